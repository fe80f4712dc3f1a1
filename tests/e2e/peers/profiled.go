// A program whose profiles Go writes itself: profiled CPU_FILE HEAP_FILE
//
// The CPU profile has recursion, an inlined function and labels; the heap
// profile has four sample types and about 9 MB from one call site.
package main

import (
	"context"
	"os"
	"runtime"
	"runtime/pprof"
	"time"
)

var kept [][]byte
var sink int

//go:noinline
func burn(until time.Time) {
	for time.Now().Before(until) {
		for i := 0; i < 1000; i++ {
			sink += square(i)
		}
	}
}

func square(i int) int { return i * i % 7 }

//go:noinline
func recurse(n int, until time.Time) {
	if n > 0 {
		recurse(n-1, until)
		return
	}
	burn(until)
}

//go:noinline
func allocate() {
	for i := 0; i < 2000; i++ {
		kept = append(kept, make([]byte, 1024*(1+i%8)))
	}
}

func main() {
	runtime.MemProfileRate = 4096
	cpu, _ := os.Create(os.Args[1])
	pprof.StartCPUProfile(cpu)
	now := time.Now()
	pprof.Do(context.Background(), pprof.Labels("phase", "decode", "request", "42"), func(context.Context) {
		recurse(3, now.Add(300*time.Millisecond))
	})
	burn(now.Add(500 * time.Millisecond))
	pprof.StopCPUProfile()
	cpu.Close()
	allocate()
	heap, _ := os.Create(os.Args[2])
	runtime.GC()
	pprof.WriteHeapProfile(heap)
	heap.Close()
}
