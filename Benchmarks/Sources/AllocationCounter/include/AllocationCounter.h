#pragma once

/// Returns the number of blocks that this process has allocated so far, or -1 if they are not counted.
long allocation_count(void);

/// Returns the processor time of this process so far, in nanoseconds.
long processor_nanoseconds(void);
