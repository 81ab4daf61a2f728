#!/usr/bin/env python3
"""Uses the pages of a running service in headless Chromium, as a person would.

    python3 browser.py http://127.0.0.1:8080 [SCREENSHOTS]

Needs Debian's chromium and chromium-driver, and selenium and axe-core-python from PyPI. It fails at the first console message, the
first accessibility problem, the first page that is wider than the window, and the first thing that does not happen. With a directory,
it saves a picture of each page in both widths and both color schemes.
"""
import pathlib
import socket
import sys
import threading
import urllib.parse

import axe_core_python
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

BASE = sys.argv[1]
PICTURES = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
AXE = (pathlib.Path(axe_core_python.__file__).parent / "axe.min.js").read_text()
PAGES = {"feed": "/posts", "users": "/users", "user": "/users/7", "gallery": "/gallery", "write": "/posts/new", "post": "/posts/99",
         "account": "/account"}


class Gate:
    """A way to the service that can be closed. While it is closed, it answers as a proxy does whose service is gone."""

    def __init__(self, host, port):
        self.target, self.is_open, self.refused, self.sockets = (host, port), True, 0, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            # Browsers open connections ahead of time, and send nothing over some of them.
            threading.Thread(target=self.handle, args=[self.listener.accept()[0]], daemon=True).start()

    def handle(self, client):
        try:
            if self.is_open:
                service = socket.create_connection(self.target)
                self.sockets += [client, service]
                # It may have been closed in the meantime.
                if not self.is_open:
                    self.close()
                threading.Thread(target=self.forward, args=[service, client], daemon=True).start()
                self.forward(client, service)
            elif client.recv(65536):
                self.refused += 1
                client.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                client.close()
        except OSError:
            client.close()

    def forward(self, source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            # Either end may be gone, or the gate closed.
            pass

    def close(self):
        self.is_open = False
        for end in list(self.sockets):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def browser(scripts=True):
    options = webdriver.ChromeOptions()
    for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--force-device-scale-factor=1"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    if not scripts:
        options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))


def check_console(driver):
    messages = [entry["message"] for entry in driver.get_log("browser")]
    assert not messages, f"{driver.current_url}: the console says {messages}"


def check_page(driver, name, width, scheme):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    driver.get(BASE + PAGES[name])
    for image in driver.find_elements(By.TAG_NAME, "img"):
        driver.execute_script("arguments[0].scrollIntoView()", image)
        wait(driver, lambda _: driver.execute_script("return arguments[0].complete && arguments[0].naturalWidth > 0", image))
    driver.execute_script("scrollTo(0, 0)")
    overflow = driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
    assert overflow <= 0, f"{PAGES[name]} is {overflow} pixels wider than the window of {width}"
    driver.execute_script(AXE)
    found = driver.execute_async_script("axe.run().then(arguments[0])")["violations"]
    problems = [(problem["id"], problem["nodes"][0]["html"]) for problem in found]
    assert not problems, f"{PAGES[name]} ({width}, {scheme}) is hard to use for some people: {problems}"
    if PICTURES:
        PICTURES.mkdir(parents=True, exist_ok=True)
        driver.save_screenshot(str(PICTURES / f"{name}-{width}-{scheme}.png"))
    check_console(driver)


def wait(driver, condition, seconds=20):
    # A page may be replaced while it is read, for which the driver has several errors, one of them without a type of its own.
    return WebDriverWait(driver, seconds, ignored_exceptions=[WebDriverException]).until(condition)


def text(driver, selector):
    return driver.find_element(By.CSS_SELECTOR, selector).text


def fill(driver, **fields):
    for name, value in fields.items():
        field = driver.find_element(By.ID, name)
        if field.tag_name == "select":
            Select(field).select_by_value(value)
        else:
            field.clear()
            field.send_keys(value)
    driver.find_element(By.CSS_SELECTOR, "form.stacked button").click()


def publish(driver, title):
    driver.get(BASE + "/posts/new")
    fill(driver, author="7", title=title, body="On the engine.\nAnd on its inventor.")
    wait(driver, lambda _: text(driver, "h1") == title)
    return driver.current_url


reader, writer = browser(), browser()
try:
    for width in [390, 1200]:
        for scheme in ["light", "dark"]:
            for name in PAGES:
                check_page(reader, name, width, scheme)
    print("The pages fit, load, and have no accessibility problem, in both widths and both color schemes.")

    reader.get(BASE + "/posts")
    link = publish(writer, "Letters & <notes>")
    wait(reader, lambda _: text(reader, "article h2") == "Letters & <notes>")
    print("A post that is published appears on a page that is open.")

    writer.get(link + "/edit")
    fill(writer, title="Letters", body="Better.")
    wait(writer, lambda _: text(writer, "h1") == "Letters")
    wait(reader, lambda _: text(reader, "article h2") == "Letters" and text(reader, "article .text") == "Better.")
    print("A post that is edited changes on a page that is open.")

    reader.get(link + "/edit")
    writer.get(link + "/edit")
    fill(writer, body="Written first.")
    wait(writer, lambda _: text(writer, "p.text") == "Written first.")
    fill(reader, body="Written second.")
    wait(reader, lambda _: "changed in the meantime" in text(reader, "[role=alert]"))
    assert text(reader, ".other .text") == "Written first."
    assert reader.find_element(By.ID, "body").get_attribute("value") == "Written second."
    # The browser logs the status 412.
    assert [entry for entry in reader.get_log("browser") if "412" not in entry["message"]] == []
    fill(reader, body="Both.")
    wait(reader, lambda _: text(reader, "p.text") == "Both.")
    print("Editors of an old version see the current one beside their own text, and lose nothing.")

    fill(reader, name="Ada", email="ada@example.org", body="Well said.")
    wait(reader, lambda _: "Well said." in text(reader, "main"))
    print("A comment appears below its post.")

    writer.get(BASE + "/posts")
    reader.get(link)
    reader.find_element(By.CSS_SELECTOR, "form[action$=delete] button").click()
    wait(reader, lambda _: reader.current_url == BASE + "/posts")
    wait(writer, lambda _: text(writer, "article h2") != "Letters")
    print("A post that is deleted disappears from a page that is open.")

    address = urllib.parse.urlsplit(BASE)
    gate = Gate(address.hostname, address.port)
    reader.get(gate.url + "/posts")
    wait(reader, lambda _: text(reader, "p.status") == "")
    gate.close()
    wait(reader, lambda _: "The connection was lost" in text(reader, "p.status"))
    # After such an answer, a browser does not connect again by itself.
    wait(reader, lambda _: gate.refused > 0)
    link = publish(writer, "While the connection was lost")
    gate.is_open = True
    wait(reader, lambda _: text(reader, "article h2") == "While the connection was lost", seconds=60)
    wait(reader, lambda _: text(reader, "p.status") == "")
    assert [entry for entry in reader.get_log("browser") if "/live/posts" not in entry["message"]] == []
    writer.find_element(By.CSS_SELECTOR, "form[action$=delete] button").click()
    wait(writer, lambda _: writer.current_url == BASE + "/posts")
    wait(reader, lambda _: text(reader, "article h2") != "While the connection was lost")
    print("A page that is open connects again when the service is back, and shows what it missed.")

    writer.get(BASE + "/account")
    fill(writer, user="marit.lamp")
    wait(writer, lambda _: "signed in as marit.lamp" in text(writer, "main"))
    link = publish(writer, "By somebody who has signed in")
    writer.find_element(By.CSS_SELECTOR, "form[action$=delete] button").click()
    wait(writer, lambda _: writer.current_url == BASE + "/posts")
    writer.get(BASE + "/account")
    writer.find_element(By.NAME, "everywhere").click()
    wait(writer, lambda _: text(writer, "main button") == "Sign in")
    print("A visitor signs in, publishes and deletes a post, and signs out everywhere.")

    check_console(writer)
    check_console(reader)

    plain = browser(scripts=False)
    try:
        link = publish(plain, "Without a script")
        plain.find_element(By.CSS_SELECTOR, "form[action$=delete] button").click()
        wait(plain, lambda _: plain.current_url == BASE + "/posts")
    finally:
        plain.quit()
    print("Posts are published and deleted without a script.")
finally:
    reader.quit()
    writer.quit()
