import Foundation
import InterfaceAdapters
import InwardRepositories
import InwardScopes

/// The page that shows an operator the outboxes of all users: how many writes wait, for how long, and those that were refused.
struct OutboxPage {
    private let outboxes: [UserOutbox]
    private let presenter: OutboxPresenter

    init(_ outboxes: [UserOutbox], at date: Date) {
        self.outboxes = outboxes
        presenter = OutboxPresenter(now: date)
    }

    var page: Page {
        let sections: [HTML] = outboxes.map(section)
        // The server for operators has no other pages.
        return Page(
            "Outbox",
            linkingTo: [],
            content: outboxes.isEmpty ? "<p>No writes are pending or refused.</p>\n" : "\(sections)"
        )
    }

    private func section(_ outbox: UserOutbox) -> HTML {
        let model = presenter.present(outbox.contents)
        let rows: [HTML] = zip(model.rows, outbox.items).map { row($0, $1.id) }
        let notes: [HTML] = model.notes.map { "<p>\($0)</p>\n" }
        return """
            <section>
            <h2>\(outbox.title)</h2>
            <p>\(model.pendingCount) pending, \(model.refusedCount) refused.</p>
            \(notes)<table>
            <thead><tr><th scope="col">Write</th><th scope="col">State</th><th scope="col">Accepted</th>\
            <th scope="col">Attempts</th><th scope="col">Next</th><th scope="col">Actions</th></tr></thead>
            <tbody>
            \(rows)</tbody>
            </table>
            </section>

            """
    }

    private func row(_ row: OutboxViewModel.Row, _ id: String) -> HTML {
        let cause: HTML? = row.cause.map { "<br><small dir=\"auto\">\($0)</small>" }
        return """
            <tr><th scope="row" dir="auto">\(row.title)\(cause)</th><td>\(row.state)</td><td>\(row.accepted)</td>\
            <td>\(row.attempts)</td><td>\(row.nextAttempt)</td>\
            <td>\(action("retry", "Retry", row, id))\(action("discard", "Discard", row, id))</td></tr>

            """
    }

    private func action(_ path: String, _ label: String, _ row: OutboxViewModel.Row, _ id: String) -> HTML {
        """
        <form method="post" action="/outbox/\(HTML(stringLiteral: path))"><input type="hidden" name="write" value="\(id)">\
        <button aria-label="\(label) “\(row.title)”">\(label)</button></form>
        """
    }
}
