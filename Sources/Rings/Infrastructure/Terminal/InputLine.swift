/// A line of what a program is given to read.
public struct InputLine: Hashable, Sendable {
    /// Its number, from 1 on.
    public let number: Int
    /// What it says, without its line feed and a carriage return before that; `nil` if it is longer than a line may be.
    public let bytes: [UInt8]?
}
