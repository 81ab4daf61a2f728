/// When something that is to be kept was asked for, and what it takes to keep it.
struct FetchStamp {
    /// When it was begun, as changes count the time.
    let tick: ChangeLog.Tick
    /// When it was asked for, by the clock of the repository; earlier, if it was kept on the way.
    let time: Duration
    /// How long ago that is.
    let age: Duration
    /// How many bytes it has as it was written.
    let byteCount: Int
    /// Whether it was read from the store, which then has it.
    let isFromStore: Bool
}
