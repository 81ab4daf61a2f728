#pragma once

/// How many blocks this process has allocated so far; -1 where they are not counted.
long allocation_count(void);

/// How many nanoseconds processors have been busy with this process so far.
long processor_nanoseconds(void);
