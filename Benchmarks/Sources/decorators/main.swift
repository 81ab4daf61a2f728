import FoundationEssentials
import InterfaceAdapters
import Measuring
import UseCases

let request = DataRequest(
    url: URL(string: "http://upstream.test/users/7")!,
    headerFields: [HeaderField(.accept, "application/json")]
)
let response = DataResponse(headerFields: [HeaderField(.contentType, "application/json")], body: Data(count: 512))

@concurrent func measure() async {
    let bare = BareDataFetcher(response: response, honorsDeadlines: true)
    let deaf = BareDataFetcher(response: response, honorsDeadlines: false)
    let base = await Measurement { _ = try? await bare.fetch(request) }
    print("bare", base.nanoseconds, base.allocations)
    func show(_ name: String, _ fetcher: any DataFetcher) async {
        let m = await Measurement { _ = try? await fetcher.fetch(request) }
        print(name, Int(m.nanoseconds - base.nanoseconds), m.allocations)
    }
    await show("observing nobody", bare.observing(with: nil))
    await show("timeout", bare.timingOut(after: .seconds(2)))
    await show("timeout, task", deaf.timingOut(after: .seconds(2)))
    await show("2 timeouts", bare.timingOut(after: .seconds(2)).timingOut(after: .seconds(10)))
    await show("coalescing", bare.coalescing())
}
await measure()
await measure()
