/// A step from a value to a value of the same type, installed where it does its work without anybody asking for it.
///
/// A plugin is its value: two that are equal do the same, so what it makes can be kept under it.
public protocol Plugin<Value>: Hashable, Sendable {
    /// What it changes.
    associatedtype Value: Sendable

    /// What it makes of a value. One that takes long gives up when the task is cancelled, with whatever it has.
    func applied(to value: Value) async -> Value
}
