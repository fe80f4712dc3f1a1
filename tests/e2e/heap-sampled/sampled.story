# one in 128 blocks of 4 KiB was seen; 75 of 100 were freed
fact heap.mode sampled
fact heap.period 524288
fact heap.note Allocations before the constructors ran were not seen.
sampled 128
+ a*100 4096 main;f
+ b*4 1048576 main;g
at 10
- a*75
at 1000
