/// Where something goes that does not fill the picture, or what of a picture is kept: one of nine places.
public enum Gravity: Hashable, Sendable, CaseIterable {
    /// At the corner above, to the left.
    case topLeft
    /// At the edge above, in the middle.
    case top
    /// At the corner above, to the right.
    case topRight
    /// At the edge to the left, in the middle.
    case left
    /// In the middle.
    case center
    /// At the edge to the right, in the middle.
    case right
    /// At the corner below, to the left.
    case bottomLeft
    /// At the edge below, in the middle.
    case bottom
    /// At the corner below, to the right.
    case bottomRight

    /// How far to the right it is: 0 at the left, 1 in the middle, 2 at the right.
    public var column: Int {
        switch self {
        case .topLeft, .left, .bottomLeft: 0
        case .top, .center, .bottom: 1
        case .topRight, .right, .bottomRight: 2
        }
    }

    /// How far down it is: 0 at the top, 1 in the middle, 2 at the bottom.
    public var row: Int {
        switch self {
        case .topLeft, .top, .topRight: 0
        case .left, .center, .right: 1
        case .bottomLeft, .bottom, .bottomRight: 2
        }
    }
}
