// FIDELIO_EXPORT marks what libfidelio_core offers to other binaries; everything else is hidden, so that inline code
// compiled for one instruction set never replaces code compiled for another.
#ifndef FIDELIO_CORE_BASE_EXPORT_H_
#define FIDELIO_CORE_BASE_EXPORT_H_

#define FIDELIO_EXPORT __attribute__((visibility("default")))

#endif  // FIDELIO_CORE_BASE_EXPORT_H_
