// Blocks that fit on a unit, by CUDA's own calculator, for every case on standard input.
//
// The calculator is NVIDIA's header cuda_occupancy.h, found where the caller says
// (g++ -I). Line one: capability, threads a unit, shared bytes a unit and a block, the
// system's reserve, cases that follow. Each case: threads, registers, shared bytes of a
// block. Out comes a line a case: blocks, and the bits of what limits them.

#include <cstdio>

#include "cuda_occupancy.h"

int main() {
    int major, minor, threads_a_unit, unit_bytes, block_bytes, reserve, cases;
    while (std::scanf("%d %d %d %d %d %d %d", &major, &minor, &threads_a_unit,
                      &unit_bytes, &block_bytes, &reserve, &cases) == 7) {
        cudaOccDeviceProp device;
        device.computeMajor = major;
        device.computeMinor = minor;
        device.maxThreadsPerBlock = 1024;
        device.maxThreadsPerMultiprocessor = threads_a_unit;
        device.regsPerBlock = 65536;
        device.regsPerMultiprocessor = 65536;
        device.warpSize = 32;
        device.sharedMemPerBlock = 48 * 1024;
        device.sharedMemPerMultiprocessor = unit_bytes;
        device.numSms = 1;
        device.sharedMemPerBlockOptin = block_bytes;
        device.reservedSharedMemPerBlock = reserve;

        cudaOccFuncAttributes kernel;
        kernel.maxThreadsPerBlock = 1024;
        kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        kernel.maxDynamicSharedSizeBytes = block_bytes;
        kernel.numBlockBarriers = 1;

        cudaOccDeviceState state;
        for (int i = 0; i < cases; ++i) {
            int threads, registers, shared;
            if (std::scanf("%d %d %d", &threads, &registers, &shared) != 3) return 2;
            kernel.numRegs = registers;
            cudaOccResult found;
            const cudaOccError failed = cudaOccMaxActiveBlocksPerMultiprocessor(
                &found, &device, &kernel, &state, threads, shared);
            if (failed != CUDA_OCC_SUCCESS) {
                std::fprintf(stderr, "capability %d.%d: error %d\n", major, minor,
                             static_cast<int>(failed));
                return 1;
            }
            std::printf("%d %u\n", found.activeBlocksPerMultiprocessor,
                        found.limitingFactors);
        }
    }
    return 0;
}
