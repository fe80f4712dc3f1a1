fact heap.mode exact
fact heap.allocator glibc
blocks
thread 100 main
label phase=load
+ w*4 1048576 main;load_model;read_tensors
+ v 262144 main;load_model;vocabulary
cpu main;load_model;read_tensors 300
at 300
span phase load 0 300
label phase=decode
thread 101 worker-1
label request=chat-0
label scope=kv_cache
at 300
+ kv0 196608 worker;serve;decode;kv_cache_grow
label scope=tokenize
+ tok0*40 96 worker;serve;tokenize;std::vector<int>::push_back
- tok0*40
label scope=history
+ hist0*16 1024 worker;serve;append_history;strdup
+ s0_0 8192 worker;serve;sample;softmax
- s0_0
+ s0_1 8192 worker;serve;sample;softmax
- s0_1
+ s0_2 8192 worker;serve;sample;softmax
- s0_2
+ s0_3 8192 worker;serve;sample;softmax
- s0_3
+ s0_4 8192 worker;serve;sample;softmax
- s0_4
+ s0_5 8192 worker;serve;sample;softmax
- s0_5
+ s0_6 8192 worker;serve;sample;softmax
- s0_6
+ s0_7 8192 worker;serve;sample;softmax
- s0_7
+ s0_8 8192 worker;serve;sample;softmax
- s0_8
+ s0_9 8192 worker;serve;sample;softmax
- s0_9
+ s0_10 8192 worker;serve;sample;softmax
- s0_10
+ s0_11 8192 worker;serve;sample;softmax
- s0_11
+ s0_12 8192 worker;serve;sample;softmax
- s0_12
+ s0_13 8192 worker;serve;sample;softmax
- s0_13
+ s0_14 8192 worker;serve;sample;softmax
- s0_14
+ s0_15 8192 worker;serve;sample;softmax
- s0_15
+ s0_16 8192 worker;serve;sample;softmax
- s0_16
+ s0_17 8192 worker;serve;sample;softmax
- s0_17
+ s0_18 8192 worker;serve;sample;softmax
- s0_18
+ s0_19 8192 worker;serve;sample;softmax
- s0_19
cpu worker;serve;decode;matmul_q8 120
cpu worker;serve;sample;softmax 40
at 500
- kv0
label scope
label request
span request chat-0 300 500
span phase decode 300 500
thread 102 worker-2
label request=chat-1
label scope=kv_cache
at 550
+ kv1 196608 worker;serve;decode;kv_cache_grow
label scope=tokenize
+ tok1*40 96 worker;serve;tokenize;std::vector<int>::push_back
- tok1*40
label scope=history
+ hist1*16 1024 worker;serve;append_history;strdup
+ s1_0 8192 worker;serve;sample;softmax
- s1_0
+ s1_1 8192 worker;serve;sample;softmax
- s1_1
+ s1_2 8192 worker;serve;sample;softmax
- s1_2
+ s1_3 8192 worker;serve;sample;softmax
- s1_3
+ s1_4 8192 worker;serve;sample;softmax
- s1_4
+ s1_5 8192 worker;serve;sample;softmax
- s1_5
+ s1_6 8192 worker;serve;sample;softmax
- s1_6
+ s1_7 8192 worker;serve;sample;softmax
- s1_7
+ s1_8 8192 worker;serve;sample;softmax
- s1_8
+ s1_9 8192 worker;serve;sample;softmax
- s1_9
+ s1_10 8192 worker;serve;sample;softmax
- s1_10
+ s1_11 8192 worker;serve;sample;softmax
- s1_11
+ s1_12 8192 worker;serve;sample;softmax
- s1_12
+ s1_13 8192 worker;serve;sample;softmax
- s1_13
+ s1_14 8192 worker;serve;sample;softmax
- s1_14
+ s1_15 8192 worker;serve;sample;softmax
- s1_15
+ s1_16 8192 worker;serve;sample;softmax
- s1_16
+ s1_17 8192 worker;serve;sample;softmax
- s1_17
+ s1_18 8192 worker;serve;sample;softmax
- s1_18
+ s1_19 8192 worker;serve;sample;softmax
- s1_19
cpu worker;serve;decode;matmul_q8 120
cpu worker;serve;sample;softmax 40
at 750
- kv1
label scope
label request
span request chat-1 550 750
span phase decode 550 750
thread 101 worker-1
label request=chat-2
label scope=kv_cache
at 800
+ kv2 196608 worker;serve;decode;kv_cache_grow
label scope=tokenize
+ tok2*40 96 worker;serve;tokenize;std::vector<int>::push_back
- tok2*40
label scope=history
+ hist2*16 1024 worker;serve;append_history;strdup
+ s2_0 8192 worker;serve;sample;softmax
- s2_0
+ s2_1 8192 worker;serve;sample;softmax
- s2_1
+ s2_2 8192 worker;serve;sample;softmax
- s2_2
+ s2_3 8192 worker;serve;sample;softmax
- s2_3
+ s2_4 8192 worker;serve;sample;softmax
- s2_4
+ s2_5 8192 worker;serve;sample;softmax
- s2_5
+ s2_6 8192 worker;serve;sample;softmax
- s2_6
+ s2_7 8192 worker;serve;sample;softmax
- s2_7
+ s2_8 8192 worker;serve;sample;softmax
- s2_8
+ s2_9 8192 worker;serve;sample;softmax
- s2_9
+ s2_10 8192 worker;serve;sample;softmax
- s2_10
+ s2_11 8192 worker;serve;sample;softmax
- s2_11
+ s2_12 8192 worker;serve;sample;softmax
- s2_12
+ s2_13 8192 worker;serve;sample;softmax
- s2_13
+ s2_14 8192 worker;serve;sample;softmax
- s2_14
+ s2_15 8192 worker;serve;sample;softmax
- s2_15
+ s2_16 8192 worker;serve;sample;softmax
- s2_16
+ s2_17 8192 worker;serve;sample;softmax
- s2_17
+ s2_18 8192 worker;serve;sample;softmax
- s2_18
+ s2_19 8192 worker;serve;sample;softmax
- s2_19
cpu worker;serve;decode;matmul_q8 120
cpu worker;serve;sample;softmax 40
at 1000
- kv2
label scope
label request
span request chat-2 800 1000
span phase decode 800 1000
thread 102 worker-2
label request=chat-3
label scope=kv_cache
at 1050
+ kv3 196608 worker;serve;decode;kv_cache_grow
label scope=tokenize
+ tok3*40 96 worker;serve;tokenize;std::vector<int>::push_back
- tok3*40
label scope=history
+ hist3*16 1024 worker;serve;append_history;strdup
+ s3_0 8192 worker;serve;sample;softmax
- s3_0
+ s3_1 8192 worker;serve;sample;softmax
- s3_1
+ s3_2 8192 worker;serve;sample;softmax
- s3_2
+ s3_3 8192 worker;serve;sample;softmax
- s3_3
+ s3_4 8192 worker;serve;sample;softmax
- s3_4
+ s3_5 8192 worker;serve;sample;softmax
- s3_5
+ s3_6 8192 worker;serve;sample;softmax
- s3_6
+ s3_7 8192 worker;serve;sample;softmax
- s3_7
+ s3_8 8192 worker;serve;sample;softmax
- s3_8
+ s3_9 8192 worker;serve;sample;softmax
- s3_9
+ s3_10 8192 worker;serve;sample;softmax
- s3_10
+ s3_11 8192 worker;serve;sample;softmax
- s3_11
+ s3_12 8192 worker;serve;sample;softmax
- s3_12
+ s3_13 8192 worker;serve;sample;softmax
- s3_13
+ s3_14 8192 worker;serve;sample;softmax
- s3_14
+ s3_15 8192 worker;serve;sample;softmax
- s3_15
+ s3_16 8192 worker;serve;sample;softmax
- s3_16
+ s3_17 8192 worker;serve;sample;softmax
- s3_17
+ s3_18 8192 worker;serve;sample;softmax
- s3_18
+ s3_19 8192 worker;serve;sample;softmax
- s3_19
cpu worker;serve;decode;matmul_q8 120
cpu worker;serve;sample;softmax 40
at 1250
- kv3
label scope
label request
span request chat-3 1050 1250
span phase decode 1050 1250
thread 101 worker-1
label request=chat-4
label scope=kv_cache
at 1300
+ kv4 196608 worker;serve;decode;kv_cache_grow
label scope=tokenize
+ tok4*40 96 worker;serve;tokenize;std::vector<int>::push_back
- tok4*40
label scope=history
+ hist4*16 1024 worker;serve;append_history;strdup
+ s4_0 8192 worker;serve;sample;softmax
- s4_0
+ s4_1 8192 worker;serve;sample;softmax
- s4_1
+ s4_2 8192 worker;serve;sample;softmax
- s4_2
+ s4_3 8192 worker;serve;sample;softmax
- s4_3
+ s4_4 8192 worker;serve;sample;softmax
- s4_4
+ s4_5 8192 worker;serve;sample;softmax
- s4_5
+ s4_6 8192 worker;serve;sample;softmax
- s4_6
+ s4_7 8192 worker;serve;sample;softmax
- s4_7
+ s4_8 8192 worker;serve;sample;softmax
- s4_8
+ s4_9 8192 worker;serve;sample;softmax
- s4_9
+ s4_10 8192 worker;serve;sample;softmax
- s4_10
+ s4_11 8192 worker;serve;sample;softmax
- s4_11
+ s4_12 8192 worker;serve;sample;softmax
- s4_12
+ s4_13 8192 worker;serve;sample;softmax
- s4_13
+ s4_14 8192 worker;serve;sample;softmax
- s4_14
+ s4_15 8192 worker;serve;sample;softmax
- s4_15
+ s4_16 8192 worker;serve;sample;softmax
- s4_16
+ s4_17 8192 worker;serve;sample;softmax
- s4_17
+ s4_18 8192 worker;serve;sample;softmax
- s4_18
+ s4_19 8192 worker;serve;sample;softmax
- s4_19
cpu worker;serve;decode;matmul_q8 120
cpu worker;serve;sample;softmax 40
at 1500
- kv4
label scope
label request
span request chat-4 1300 1500
span phase decode 1300 1500
thread 102 worker-2
label request=chat-5
label scope=kv_cache
at 1550
+ kv5 196608 worker;serve;decode;kv_cache_grow
label scope=tokenize
+ tok5*40 96 worker;serve;tokenize;std::vector<int>::push_back
- tok5*40
label scope=history
+ hist5*16 1024 worker;serve;append_history;strdup
+ s5_0 8192 worker;serve;sample;softmax
- s5_0
+ s5_1 8192 worker;serve;sample;softmax
- s5_1
+ s5_2 8192 worker;serve;sample;softmax
- s5_2
+ s5_3 8192 worker;serve;sample;softmax
- s5_3
+ s5_4 8192 worker;serve;sample;softmax
- s5_4
+ s5_5 8192 worker;serve;sample;softmax
- s5_5
+ s5_6 8192 worker;serve;sample;softmax
- s5_6
+ s5_7 8192 worker;serve;sample;softmax
- s5_7
+ s5_8 8192 worker;serve;sample;softmax
- s5_8
+ s5_9 8192 worker;serve;sample;softmax
- s5_9
+ s5_10 8192 worker;serve;sample;softmax
- s5_10
+ s5_11 8192 worker;serve;sample;softmax
- s5_11
+ s5_12 8192 worker;serve;sample;softmax
- s5_12
+ s5_13 8192 worker;serve;sample;softmax
- s5_13
+ s5_14 8192 worker;serve;sample;softmax
- s5_14
+ s5_15 8192 worker;serve;sample;softmax
- s5_15
+ s5_16 8192 worker;serve;sample;softmax
- s5_16
+ s5_17 8192 worker;serve;sample;softmax
- s5_17
+ s5_18 8192 worker;serve;sample;softmax
- s5_18
+ s5_19 8192 worker;serve;sample;softmax
- s5_19
cpu worker;serve;decode;matmul_q8 120
cpu worker;serve;sample;softmax 40
at 1750
- kv5
label scope
label request
span request chat-5 1550 1750
span phase decode 1550 1750
thread 101 worker-1
label request=chat-6
label scope=kv_cache
at 1800
+ kv6 196608 worker;serve;decode;kv_cache_grow
label scope=tokenize
+ tok6*40 96 worker;serve;tokenize;std::vector<int>::push_back
- tok6*40
label scope=history
+ hist6*16 1024 worker;serve;append_history;strdup
+ s6_0 8192 worker;serve;sample;softmax
- s6_0
+ s6_1 8192 worker;serve;sample;softmax
- s6_1
+ s6_2 8192 worker;serve;sample;softmax
- s6_2
+ s6_3 8192 worker;serve;sample;softmax
- s6_3
+ s6_4 8192 worker;serve;sample;softmax
- s6_4
+ s6_5 8192 worker;serve;sample;softmax
- s6_5
+ s6_6 8192 worker;serve;sample;softmax
- s6_6
+ s6_7 8192 worker;serve;sample;softmax
- s6_7
+ s6_8 8192 worker;serve;sample;softmax
- s6_8
+ s6_9 8192 worker;serve;sample;softmax
- s6_9
+ s6_10 8192 worker;serve;sample;softmax
- s6_10
+ s6_11 8192 worker;serve;sample;softmax
- s6_11
+ s6_12 8192 worker;serve;sample;softmax
- s6_12
+ s6_13 8192 worker;serve;sample;softmax
- s6_13
+ s6_14 8192 worker;serve;sample;softmax
- s6_14
+ s6_15 8192 worker;serve;sample;softmax
- s6_15
+ s6_16 8192 worker;serve;sample;softmax
- s6_16
+ s6_17 8192 worker;serve;sample;softmax
- s6_17
+ s6_18 8192 worker;serve;sample;softmax
- s6_18
+ s6_19 8192 worker;serve;sample;softmax
- s6_19
cpu worker;serve;decode;matmul_q8 120
cpu worker;serve;sample;softmax 40
at 2000
- kv6
label scope
label request
span request chat-6 1800 2000
span phase decode 1800 2000
thread 102 worker-2
label request=chat-7
label scope=kv_cache
at 2050
+ kv7 196608 worker;serve;decode;kv_cache_grow
label scope=tokenize
+ tok7*40 96 worker;serve;tokenize;std::vector<int>::push_back
- tok7*40
label scope=history
+ hist7*16 1024 worker;serve;append_history;strdup
+ s7_0 8192 worker;serve;sample;softmax
- s7_0
+ s7_1 8192 worker;serve;sample;softmax
- s7_1
+ s7_2 8192 worker;serve;sample;softmax
- s7_2
+ s7_3 8192 worker;serve;sample;softmax
- s7_3
+ s7_4 8192 worker;serve;sample;softmax
- s7_4
+ s7_5 8192 worker;serve;sample;softmax
- s7_5
+ s7_6 8192 worker;serve;sample;softmax
- s7_6
+ s7_7 8192 worker;serve;sample;softmax
- s7_7
+ s7_8 8192 worker;serve;sample;softmax
- s7_8
+ s7_9 8192 worker;serve;sample;softmax
- s7_9
+ s7_10 8192 worker;serve;sample;softmax
- s7_10
+ s7_11 8192 worker;serve;sample;softmax
- s7_11
+ s7_12 8192 worker;serve;sample;softmax
- s7_12
+ s7_13 8192 worker;serve;sample;softmax
- s7_13
+ s7_14 8192 worker;serve;sample;softmax
- s7_14
+ s7_15 8192 worker;serve;sample;softmax
- s7_15
+ s7_16 8192 worker;serve;sample;softmax
- s7_16
+ s7_17 8192 worker;serve;sample;softmax
- s7_17
+ s7_18 8192 worker;serve;sample;softmax
- s7_18
+ s7_19 8192 worker;serve;sample;softmax
- s7_19
cpu worker;serve;decode;matmul_q8 120
cpu worker;serve;sample;softmax 40
at 2250
- kv7
label scope
label request
span request chat-7 2050 2250
span phase decode 2050 2250
thread 101 worker-1
label request=chat-8
label scope=kv_cache
at 2300
+ kv8 196608 worker;serve;decode;kv_cache_grow
label scope=tokenize
+ tok8*40 96 worker;serve;tokenize;std::vector<int>::push_back
- tok8*40
label scope=history
+ hist8*16 1024 worker;serve;append_history;strdup
+ s8_0 8192 worker;serve;sample;softmax
- s8_0
+ s8_1 8192 worker;serve;sample;softmax
- s8_1
+ s8_2 8192 worker;serve;sample;softmax
- s8_2
+ s8_3 8192 worker;serve;sample;softmax
- s8_3
+ s8_4 8192 worker;serve;sample;softmax
- s8_4
+ s8_5 8192 worker;serve;sample;softmax
- s8_5
+ s8_6 8192 worker;serve;sample;softmax
- s8_6
+ s8_7 8192 worker;serve;sample;softmax
- s8_7
+ s8_8 8192 worker;serve;sample;softmax
- s8_8
+ s8_9 8192 worker;serve;sample;softmax
- s8_9
+ s8_10 8192 worker;serve;sample;softmax
- s8_10
+ s8_11 8192 worker;serve;sample;softmax
- s8_11
+ s8_12 8192 worker;serve;sample;softmax
- s8_12
+ s8_13 8192 worker;serve;sample;softmax
- s8_13
+ s8_14 8192 worker;serve;sample;softmax
- s8_14
+ s8_15 8192 worker;serve;sample;softmax
- s8_15
+ s8_16 8192 worker;serve;sample;softmax
- s8_16
+ s8_17 8192 worker;serve;sample;softmax
- s8_17
+ s8_18 8192 worker;serve;sample;softmax
- s8_18
+ s8_19 8192 worker;serve;sample;softmax
- s8_19
cpu worker;serve;decode;matmul_q8 120
cpu worker;serve;sample;softmax 40
at 2500
- kv8
label scope
label request
span request chat-8 2300 2500
span phase decode 2300 2500
thread 102 worker-2
label request=chat-9
label scope=kv_cache
at 2550
+ kv9 196608 worker;serve;decode;kv_cache_grow
label scope=tokenize
+ tok9*40 96 worker;serve;tokenize;std::vector<int>::push_back
- tok9*40
label scope=history
+ hist9*16 1024 worker;serve;append_history;strdup
+ s9_0 8192 worker;serve;sample;softmax
- s9_0
+ s9_1 8192 worker;serve;sample;softmax
- s9_1
+ s9_2 8192 worker;serve;sample;softmax
- s9_2
+ s9_3 8192 worker;serve;sample;softmax
- s9_3
+ s9_4 8192 worker;serve;sample;softmax
- s9_4
+ s9_5 8192 worker;serve;sample;softmax
- s9_5
+ s9_6 8192 worker;serve;sample;softmax
- s9_6
+ s9_7 8192 worker;serve;sample;softmax
- s9_7
+ s9_8 8192 worker;serve;sample;softmax
- s9_8
+ s9_9 8192 worker;serve;sample;softmax
- s9_9
+ s9_10 8192 worker;serve;sample;softmax
- s9_10
+ s9_11 8192 worker;serve;sample;softmax
- s9_11
+ s9_12 8192 worker;serve;sample;softmax
- s9_12
+ s9_13 8192 worker;serve;sample;softmax
- s9_13
+ s9_14 8192 worker;serve;sample;softmax
- s9_14
+ s9_15 8192 worker;serve;sample;softmax
- s9_15
+ s9_16 8192 worker;serve;sample;softmax
- s9_16
+ s9_17 8192 worker;serve;sample;softmax
- s9_17
+ s9_18 8192 worker;serve;sample;softmax
- s9_18
+ s9_19 8192 worker;serve;sample;softmax
- s9_19
cpu worker;serve;decode;matmul_q8 120
cpu worker;serve;sample;softmax 40
at 2750
- kv9
label scope
label request
span request chat-9 2550 2750
span phase decode 2550 2750
thread 101 worker-1
label request=chat-10
label scope=kv_cache
at 2800
+ kv10 196608 worker;serve;decode;kv_cache_grow
label scope=tokenize
+ tok10*40 96 worker;serve;tokenize;std::vector<int>::push_back
- tok10*40
label scope=history
+ hist10*16 1024 worker;serve;append_history;strdup
+ s10_0 8192 worker;serve;sample;softmax
- s10_0
+ s10_1 8192 worker;serve;sample;softmax
- s10_1
+ s10_2 8192 worker;serve;sample;softmax
- s10_2
+ s10_3 8192 worker;serve;sample;softmax
- s10_3
+ s10_4 8192 worker;serve;sample;softmax
- s10_4
+ s10_5 8192 worker;serve;sample;softmax
- s10_5
+ s10_6 8192 worker;serve;sample;softmax
- s10_6
+ s10_7 8192 worker;serve;sample;softmax
- s10_7
+ s10_8 8192 worker;serve;sample;softmax
- s10_8
+ s10_9 8192 worker;serve;sample;softmax
- s10_9
+ s10_10 8192 worker;serve;sample;softmax
- s10_10
+ s10_11 8192 worker;serve;sample;softmax
- s10_11
+ s10_12 8192 worker;serve;sample;softmax
- s10_12
+ s10_13 8192 worker;serve;sample;softmax
- s10_13
+ s10_14 8192 worker;serve;sample;softmax
- s10_14
+ s10_15 8192 worker;serve;sample;softmax
- s10_15
+ s10_16 8192 worker;serve;sample;softmax
- s10_16
+ s10_17 8192 worker;serve;sample;softmax
- s10_17
+ s10_18 8192 worker;serve;sample;softmax
- s10_18
+ s10_19 8192 worker;serve;sample;softmax
- s10_19
cpu worker;serve;decode;matmul_q8 120
cpu worker;serve;sample;softmax 40
at 3000
- kv10
label scope
label request
span request chat-10 2800 3000
span phase decode 2800 3000
thread 102 worker-2
label request=chat-11
label scope=kv_cache
at 3050
+ kv11 196608 worker;serve;decode;kv_cache_grow
label scope=tokenize
+ tok11*40 96 worker;serve;tokenize;std::vector<int>::push_back
- tok11*40
label scope=history
+ hist11*16 1024 worker;serve;append_history;strdup
+ s11_0 8192 worker;serve;sample;softmax
- s11_0
+ s11_1 8192 worker;serve;sample;softmax
- s11_1
+ s11_2 8192 worker;serve;sample;softmax
- s11_2
+ s11_3 8192 worker;serve;sample;softmax
- s11_3
+ s11_4 8192 worker;serve;sample;softmax
- s11_4
+ s11_5 8192 worker;serve;sample;softmax
- s11_5
+ s11_6 8192 worker;serve;sample;softmax
- s11_6
+ s11_7 8192 worker;serve;sample;softmax
- s11_7
+ s11_8 8192 worker;serve;sample;softmax
- s11_8
+ s11_9 8192 worker;serve;sample;softmax
- s11_9
+ s11_10 8192 worker;serve;sample;softmax
- s11_10
+ s11_11 8192 worker;serve;sample;softmax
- s11_11
+ s11_12 8192 worker;serve;sample;softmax
- s11_12
+ s11_13 8192 worker;serve;sample;softmax
- s11_13
+ s11_14 8192 worker;serve;sample;softmax
- s11_14
+ s11_15 8192 worker;serve;sample;softmax
- s11_15
+ s11_16 8192 worker;serve;sample;softmax
- s11_16
+ s11_17 8192 worker;serve;sample;softmax
- s11_17
+ s11_18 8192 worker;serve;sample;softmax
- s11_18
+ s11_19 8192 worker;serve;sample;softmax
- s11_19
cpu worker;serve;decode;matmul_q8 120
cpu worker;serve;sample;softmax 40
at 3250
- kv11
label scope
label request
span request chat-11 3050 3250
span phase decode 3050 3250
thread 101 worker-1
label request=chat-12
label scope=kv_cache
at 3300
+ kv12 196608 worker;serve;decode;kv_cache_grow
label scope=tokenize
+ tok12*40 96 worker;serve;tokenize;std::vector<int>::push_back
- tok12*40
label scope=history
+ hist12*16 1024 worker;serve;append_history;strdup
+ s12_0 8192 worker;serve;sample;softmax
- s12_0
+ s12_1 8192 worker;serve;sample;softmax
- s12_1
+ s12_2 8192 worker;serve;sample;softmax
- s12_2
+ s12_3 8192 worker;serve;sample;softmax
- s12_3
+ s12_4 8192 worker;serve;sample;softmax
- s12_4
+ s12_5 8192 worker;serve;sample;softmax
- s12_5
+ s12_6 8192 worker;serve;sample;softmax
- s12_6
+ s12_7 8192 worker;serve;sample;softmax
- s12_7
+ s12_8 8192 worker;serve;sample;softmax
- s12_8
+ s12_9 8192 worker;serve;sample;softmax
- s12_9
+ s12_10 8192 worker;serve;sample;softmax
- s12_10
+ s12_11 8192 worker;serve;sample;softmax
- s12_11
+ s12_12 8192 worker;serve;sample;softmax
- s12_12
+ s12_13 8192 worker;serve;sample;softmax
- s12_13
+ s12_14 8192 worker;serve;sample;softmax
- s12_14
+ s12_15 8192 worker;serve;sample;softmax
- s12_15
+ s12_16 8192 worker;serve;sample;softmax
- s12_16
+ s12_17 8192 worker;serve;sample;softmax
- s12_17
+ s12_18 8192 worker;serve;sample;softmax
- s12_18
+ s12_19 8192 worker;serve;sample;softmax
- s12_19
cpu worker;serve;decode;matmul_q8 120
cpu worker;serve;sample;softmax 40
at 3500
- kv12
label scope
label request
span request chat-12 3300 3500
span phase decode 3300 3500
thread 102 worker-2
label request=chat-13
label scope=kv_cache
at 3550
+ kv13 196608 worker;serve;decode;kv_cache_grow
label scope=tokenize
+ tok13*40 96 worker;serve;tokenize;std::vector<int>::push_back
- tok13*40
label scope=history
+ hist13*16 1024 worker;serve;append_history;strdup
+ s13_0 8192 worker;serve;sample;softmax
- s13_0
+ s13_1 8192 worker;serve;sample;softmax
- s13_1
+ s13_2 8192 worker;serve;sample;softmax
- s13_2
+ s13_3 8192 worker;serve;sample;softmax
- s13_3
+ s13_4 8192 worker;serve;sample;softmax
- s13_4
+ s13_5 8192 worker;serve;sample;softmax
- s13_5
+ s13_6 8192 worker;serve;sample;softmax
- s13_6
+ s13_7 8192 worker;serve;sample;softmax
- s13_7
+ s13_8 8192 worker;serve;sample;softmax
- s13_8
+ s13_9 8192 worker;serve;sample;softmax
- s13_9
+ s13_10 8192 worker;serve;sample;softmax
- s13_10
+ s13_11 8192 worker;serve;sample;softmax
- s13_11
+ s13_12 8192 worker;serve;sample;softmax
- s13_12
+ s13_13 8192 worker;serve;sample;softmax
- s13_13
+ s13_14 8192 worker;serve;sample;softmax
- s13_14
+ s13_15 8192 worker;serve;sample;softmax
- s13_15
+ s13_16 8192 worker;serve;sample;softmax
- s13_16
+ s13_17 8192 worker;serve;sample;softmax
- s13_17
+ s13_18 8192 worker;serve;sample;softmax
- s13_18
+ s13_19 8192 worker;serve;sample;softmax
- s13_19
cpu worker;serve;decode;matmul_q8 120
cpu worker;serve;sample;softmax 40
at 3750
- kv13
label scope
label request
span request chat-13 3550 3750
span phase decode 3550 3750
at 3900
