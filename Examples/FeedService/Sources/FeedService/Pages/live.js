"use strict";

// Keeps the list of posts up to date. The page works without it.
const list = document.querySelector("[data-live]");

if (list) {
    const status = document.createElement("p");
    status.className = "status";
    status.setAttribute("role", "status");
    list.before(status);

    const follow = () => {
        const events = new EventSource(list.dataset.live);
        events.addEventListener("posts", (event) => {
            const template = document.createElement("template");
            template.innerHTML = event.data;
            // What has not changed stays, and keeps the focus.
            const focused = document.activeElement;
            const [before, after] = [list, template.content].map((part) => [...part.children].map((element) => element.outerHTML));
            if (before.join() === after.join()) return;
            const old = new Map([...list.children].map((element) => [element.outerHTML, element]));
            list.replaceChildren(...[...template.content.children].map((element) => old.get(element.outerHTML) ?? element));
            if (focused !== document.activeElement && list.contains(focused)) focused.focus({preventScroll: true});
        });
        events.addEventListener("open", () => { status.textContent = ""; });
        events.addEventListener("error", () => {
            status.textContent = "The connection was lost. New posts appear when it is back.";
            // A browser connects again by itself, but not after a response such as 503 of the service, or 502 of a proxy.
            if (events.readyState === EventSource.CLOSED) setTimeout(follow, 5000 * (1 + Math.random()));
        });
    };
    follow();
}
