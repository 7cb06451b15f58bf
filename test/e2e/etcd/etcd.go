//go:build tools

// Package etcd pins the released etcd that the scenarios run. It has a module of its own because etcd's go.mod has
// local replacements and asks for other versions than Kubernetes does.
package etcd

import _ "go.etcd.io/etcd/server/v3"
