import InwardFetching
import Testing

struct HeaderFieldsLinkTests {
    private func next(_ values: String...) -> String? {
        HeaderFields(values.map { HeaderField(.link, $0) }).target(ofLink: "next")
    }

    @Test func targetsAreFoundByRelation() {
        #expect(next(#"</posts?page=2>; rel="next""#) == "/posts?page=2")
        #expect(
            next(#"<https://a.test/?page=1>; rel="prev", <https://a.test/?page=3>; rel="next""#)
                == "https://a.test/?page=3"
        )
        #expect(next(#"<1>; rel="prev""#, #"<3>; rel="next""#) == "3")
        #expect(next("<2>;rel=next;title=x, <9>;rel=last") == "2")
        #expect(next(#"<2> ; title="a, <b>; rel=\"next" ; REL = "start NEXT" "#) == "2")
    }

    @Test func otherLinksAreSkipped() {
        #expect(next() == nil)
        #expect(next("") == nil)
        #expect(next("<2>") == nil)
        #expect(next("<2>; rel=last") == nil)
        #expect(next(#"<2>; rev="next""#) == nil)
        #expect(next(#"<2>; title="rel=next""#) == nil)
        #expect(next(#"<2>; rel="prev"; rel="next""#) == nil)
        #expect(next("<2; rel=next") == nil)
        #expect(next("2>; rel=next") == nil)
        #expect(next(#"<2>; rel="nextpage""#) == nil)
        #expect(next("<1>; rel, <2>; rel=next") == "2")
        #expect(next(#"<2>; rel="next"#) == "2")
    }

    @Test func anyRelationCanBeRequested() {
        let fields = HeaderFields([HeaderField(.link, "<a>; rel=Last")])
        #expect(fields.target(ofLink: "last") == "a" && fields.target(ofLink: "LAST") == "a")
    }
}
