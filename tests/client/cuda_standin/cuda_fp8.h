/* Nothing of it is needed: see cuda_runtime.h. */
