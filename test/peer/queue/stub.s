// Empty: with an assembly file in the package, functions without a body may be declared, as main.go does for methods of
// the queue that are not exported.
