// Command cel evaluates device selectors as kube-scheduler does and prints what an evaluation costs: the counterpart of
// berth's cel benchmark, on the same expressions and devices.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

// enough is how much processor time one expression is measured for.
const enough = 500 * time.Millisecond

type expression struct{ name, text string }

type cases struct {
	expressions []expression
	devices     []dracel.Device
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: cel FILE")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(path string) error {
	all, err := read(path)
	if err != nil {
		return err
	}
	compiler := dracel.GetCompiler(dracel.Features{EnableConsumableCapacity: true, EnableListTypeAttributes: true})
	for _, each := range all.expressions {
		// As the scheduler compiles: without an estimate of the cost, with the limit of an evaluation.
		program := compiler.CompileCELExpression(each.text, dracel.Options{DisableCostEstimation: true})
		if program.Error != nil {
			return fmt.Errorf("%s: %w", each.name, program.Error)
		}
		fmt.Printf("%s %.1f %s\n", each.name, measure(program, all.devices), outcomes(program, all.devices))
	}
	return nil
}

// measure gives the nanoseconds of one evaluation, those of the garbage collector's threads included.
func measure(program dracel.CompilationResult, devices []dracel.Device) float64 {
	ctx := context.Background()
	evaluations := 0
	before := cpuTime()
	for cpuTime()-before < enough {
		for range 100 {
			for i := range devices {
				_, _, _ = program.DeviceMatches(ctx, devices[i])
			}
		}
		evaluations += 100 * len(devices)
	}
	return float64(cpuTime()-before) / float64(evaluations)
}

// outcomes is a letter per device: yes, no, or an error.
func outcomes(program dracel.CompilationResult, devices []dracel.Device) string {
	letters := ""
	for _, device := range devices {
		matches, _, err := program.DeviceMatches(context.Background(), device)
		switch {
		case err != nil:
			letters += "e"
		case matches:
			letters += "y"
		default:
			letters += "n"
		}
	}
	return letters
}

func read(path string) (*cases, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	all := &cases{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != 3 {
			continue
		}
		if err := all.add(fields[0], fields[1], fields[2]); err != nil {
			return nil, fmt.Errorf("%s: %w", lines.Text(), err)
		}
	}
	return all, lines.Err()
}

func (c *cases) add(kind, name, value string) error {
	switch kind {
	case "expression":
		c.expressions = append(c.expressions, expression{name, value})
		return nil
	case "device":
		c.devices = append(c.devices, dracel.Device{
			Driver:     value,
			Attributes: map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{},
			Capacity:   map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{},
		})
		return nil
	}
	device := c.devices[len(c.devices)-1]
	key := resourceapi.QualifiedName(name)
	if kind == "capacity" {
		quantity, err := resource.ParseQuantity(value)
		device.Capacity[key] = resourceapi.DeviceCapacity{Value: quantity}
		return err
	}
	attribute, err := attributeOf(kind, value)
	device.Attributes[key] = attribute
	return err
}

func attributeOf(kind, value string) (resourceapi.DeviceAttribute, error) {
	switch kind {
	case "bool":
		flag, err := strconv.ParseBool(value)
		return resourceapi.DeviceAttribute{BoolValue: &flag}, err
	case "int":
		number, err := strconv.ParseInt(value, 10, 64)
		return resourceapi.DeviceAttribute{IntValue: &number}, err
	case "string":
		return resourceapi.DeviceAttribute{StringValue: &value}, nil
	case "version":
		return resourceapi.DeviceAttribute{VersionValue: &value}, nil
	case "strings":
		return resourceapi.DeviceAttribute{StringValues: strings.Split(value, ",")}, nil
	}
	return resourceapi.DeviceAttribute{}, fmt.Errorf("no kind of attribute")
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
