import InwardImages
import Testing

struct GravityTests {
    @Test(arguments: [
        (Gravity.topLeft, 0, 0), (.top, 1, 0), (.topRight, 2, 0),
        (.left, 0, 1), (.center, 1, 1), (.right, 2, 1),
        (.bottomLeft, 0, 2), (.bottom, 1, 2), (.bottomRight, 2, 2),
    ])
    func everyGravityHasAColumnAndARow(gravity: Gravity, column: Int, row: Int) {
        #expect(gravity.column == column)
        #expect(gravity.row == row)
    }
}
