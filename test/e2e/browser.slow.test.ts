// A page in a real browser lists, writes and watches, over fetch and WebSockets.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { allow, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { Note } from "../_support/note.ts";
import { ALICE, startTls, type TlsServer } from "../_support/server.ts";
import { startChromium, type Tab } from "../docs-site/support/browser.ts";

const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";

/** Serves an empty page. */
async function startPage(): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((_req, res) =>
    res.writeHead(200, { "content-type": "text/html" }).end("<title>page</title>"),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Program of the page: lists, opens a watch, creates a note, and returns what it saw. */
const program = (url: string): string => `(async () => {
  const headers = { authorization: "Bearer ${ALICE.token}", "content-type": "application/json" };
  const seen = [];
  const list = await fetch("${url}${NOTES}", { headers });
  const { metadata } = await list.json();
  const token = btoa("${ALICE.token}").replaceAll("=", "").replaceAll("+", "-").replaceAll("/", "_");
  const query = "?watch=true&resourceVersion=" + metadata.resourceVersion;
  const socket = new WebSocket("${url.replace("https", "wss")}${NOTES}" + query, [
    "base64url.bearer.authorization.k8s.io." + token,
    "base64.binary.k8s.io",
  ]);
  await new Promise((resolve, reject) => { socket.onopen = resolve; socket.onerror = () => reject(new Error("rejected")); });
  const told = new Promise((resolve) => { socket.onmessage = ({ data }) => resolve(JSON.parse(data)); });
  const note = { apiVersion: "test.dev/v1", kind: "Note", metadata: { name: "a" }, spec: { text: "1" } };
  const made = await fetch("${url}${NOTES}", { method: "POST", headers, body: JSON.stringify(note) });
  if (made.status !== 201) throw new Error(await made.text());
  const { type, object } = await told;
  const closed = new Promise((resolve) => { socket.onclose = ({ code, wasClean }) => resolve([code, wasClean]); });
  socket.close();
  return [list.status, made.status, made.headers.get("audit-id") !== null, type, object.metadata.name, await closed];
})()`;

/** Program of a page that tries each way in. */
const intruder = (url: string): string => `(async () => {
  const headers = { authorization: "Bearer ${ALICE.token}" };
  const fetched = await fetch("${url}${NOTES}", { headers }).then(() => "read", (error) => error.name);
  const socket = new WebSocket("${url.replace("https", "wss")}${NOTES}?watch=true", [
    "base64url.bearer.authorization.k8s.io." + btoa("${ALICE.token}").replaceAll("=", ""),
    "base64.binary.k8s.io",
  ]);
  const opened = await new Promise((resolve) => { socket.onopen = () => resolve("open"); socket.onclose = ({ code }) => resolve(code); });
  return [fetched, opened];
})()`;

describe("a page in a browser", function () {
  this.timeout(60_000);
  const stack = new AsyncDisposableStack();
  let browser: Awaited<ReturnType<typeof startChromium>>;
  let server: TlsServer;
  let allowed: string;
  let other: string;

  before(async function () {
    browser = await startChromium(["--ignore-certificate-errors"]);
    if (browser === undefined) this.skip();
    const opened = browser;
    stack.defer(() => opened.close());
    const pages = [await startPage(), await startPage()];
    for (const { server: page } of pages) stack.defer(() => void page.close());
    [allowed = "", other = ""] = pages.map(({ url }) => url);
    const view = defineVirtualWorkspace({
      ...{ name: "notes", path: "/clusters/:cluster", authorize: () => allow() },
      resources: [Note.serve(Note.collection())],
    });
    server = stack.use(await startTls([view], { corsAllowedOrigins: [`^${allowed.replaceAll(".", "\\.")}$`] }));
  });
  after(() => stack.disposeAsync());

  const on = async (url: string): Promise<Tab> => {
    const tab = (await browser?.newPage({ viewport: { width: 800, height: 600 } })) as Tab;
    await tab.goto(url);
    return tab;
  };

  it("of an allowed origin lists, writes, and gets each event over a WebSocket", async () => {
    const tab = await on(allowed);
    const seen = await tab.evaluate(program(`https://127.0.0.1:${server.port}`));
    expect(seen).to.deep.equal([200, 201, true, "ADDED", "a", [1005, true]]);
  });

  it("of another origin gets nothing, even with a token", async () => {
    const tab = await on(other);
    const seen = await tab.evaluate(intruder(`https://127.0.0.1:${server.port}`));
    expect(seen).to.deep.equal(["TypeError", 1006]);
  });
});
