import InterfaceAdapters

extension Document {
    /// The rows of all tables in the document.
    var rows: [[Table.Cell]] {
        blocks.flatMap { block -> [[Table.Cell]] in
            if case .table(let table) = block { table.rows } else { [] }
        }
    }
}
