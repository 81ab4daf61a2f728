public import InwardCore

/// What a picture is kept under: where it came from, and all that was done to it.
///
/// Nobody writes it by hand: a plugin is its value. It is of use for as long as the program runs.
public struct ImageKey: Hashable, Sendable {
    /// Where the picture came from.
    public let address: ImageAddress
    /// What was done to it.
    public let plugins: PluginCollection<ImageResult>
    /// What its sides were divided by while it was decoded; `nil` where the plugins say so.
    let reduction: Int?
}
