// Pages of a server, which it answers before authentication, and the credentials of their sessions.
import { ApiError, type Status } from "@virtual-workspaces/apimachinery";
import { allow, createServer, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import type { ImpersonationRule } from "@virtual-workspaces/framework/authz";
import { proxy } from "@virtual-workspaces/framework/proxy";
import type { PageCredentials, PageRequest, Pages } from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { Http2Client } from "../_support/http2.ts";
import { startListener } from "../_support/listener.ts";
import { Note } from "../_support/note.ts";
import { startPlain } from "../_support/plain.ts";
import { ALICE, createAuthority, startTls } from "../_support/server.ts";
import { until } from "../_support/until.ts";
import { openWatch } from "../_support/web-socket.ts";
import { type Whoami, whoami } from "../_support/whoami.ts";

const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";

function notes() {
  return defineVirtualWorkspace({
    ...{ name: "notes", path: "/clusters/:cluster", authorize: () => allow() },
    resources: [Note.serve(Note.collection())],
  });
}

/** Pages whose session is a cookie with the token. */
const pages = (answer: (request: PageRequest) => void | Promise<void> = () => {}): Pages => ({
  path: "/console",
  answer,
  credentials: ({ cookie = "" }) => {
    const [, token] = /(?:^|; )session=(\w+)/.exec(cookie) ?? [];
    const others = cookie.split("; ").filter((pair) => !pair.startsWith("session="));
    return { cookie: others.join("; ") || undefined, ...(token && { authorization: `Bearer ${token}` }) };
  },
});

async function statusOf(url: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const response = await fetch(url, { headers });
  await response.arrayBuffer();
  return response.status;
}

describe("pages of a server", () => {
  it("are answered at their path and below it, before authentication, and nothing else is", async () => {
    const seen: string[] = [];
    const answer = ({ res, path, search }: PageRequest): void => {
      seen.push(path + search);
      res.end("page");
    };
    await using server = await startPlain([notes()], { pages: pages(answer) });
    for (const path of ["/console", "/console/", "/console/a.js?b=c", "/console/../console/x"])
      expect(await statusOf(`${server.url}${path}`)).to.equal(200);
    expect(seen).to.deep.equal(["", "/", "/a.js?b=c", "/x"]);
    for (const path of ["/consoles", "/console.js", "/", NOTES, "/services/notes/console/"])
      expect(await statusOf(`${server.url}${path}`), path).to.equal(401);
  });

  it("may authenticate a request by the server's authenticators, and errors become a Status", async () => {
    const answer = async ({ res, search, authenticate }: PageRequest): Promise<void> => {
      if (search === "?broken") throw new Error("broken");
      if (search === "?gone") throw ApiError.notFoundPath("gone");
      const { name } = await authenticate(`Bearer ${search.slice(1)}`);
      res.end(name);
    };
    await using server = await startPlain([notes()], { pages: pages(answer) });
    expect(await (await fetch(`${server.url}/console/?bob`)).text()).to.equal("bob");
    const statuses: Status[] = [];
    for (const search of ["?eve", "?gone", "?broken"])
      statuses.push((await (await fetch(`${server.url}/console/${search}`)).json()) as Status);
    expect(statuses.map(({ code }) => code)).to.deep.equal([401, 404, 500]);
    expectFault(/request failed .*Error: broken/);
    expect(statuses[2]?.message).to.match(/^Internal error occurred: request \S+ failed: see the server's log/);
  });

  it("limit failed attempts of an address like all others", async () => {
    const answer = async ({ authenticate }: PageRequest): Promise<void> => void (await authenticate("Bearer wrong"));
    await using server = await startPlain([notes()], {
      pages: pages(answer),
      authenticationFailures: { failures: 2, forgiveEvery: 3_600_000, trusted: [] },
    });
    const codes: number[] = [];
    for (let attempt = 0; attempt < 4; attempt++) codes.push(await statusOf(`${server.url}/console/`));
    expect(codes).to.deep.equal([401, 401, 429, 429]);
  });

  it("come before the hook that maps targets", async () => {
    const answer = ({ res, path }: PageRequest): void => void res.end(path);
    await using server = await startPlain([notes()], { pages: pages(answer), retarget: () => NOTES });
    expect(await (await fetch(`${server.url}/console/a`)).text()).to.equal("/a");
    expect(await statusOf(`${server.url}/other`, { cookie: "session=bob" })).to.equal(200);
  });

  it("need a path that the server and its views do not have", () => {
    const make = (path: string) => () =>
      createServer({ virtualWorkspaces: [notes()], authentication: [], pages: { ...pages(), path } });
    for (const path of ["console", "/", "/a/b", "/Console", "/a_b"])
      expect(make(path)).to.throw(
        `invalid path ${JSON.stringify(path)} of pages: use one segment of a path, such as /console`,
      );
    expect(make("/clusters")).to.throw('invalid path "/clusters" of pages: the server has this path: use another one');
    const view = defineVirtualWorkspace({
      name: "v",
      prefix: "/own/v",
      path: "/",
      authorize: () => allow(),
      resources: [],
    });
    expect(() =>
      createServer({ virtualWorkspaces: [view], authentication: [], pages: { ...pages(), path: "/own" } }),
    ).to.throw('invalid path "/own" of pages: the virtual workspace "v" has it: use another one');
  });
});

describe("the session of a server's pages", () => {
  it("authenticates requests, over HTTP/1.1, HTTP/2 and WebSockets", async () => {
    const authority = createAuthority();
    await using server = await startTls([notes()], { authority, pages: pages() });
    using client = await Http2Client.open(server.port, { ca: authority.ca });
    const cookie = "session=wrong; other=1";
    expect((await client.get(NOTES, { cookie })).status).to.equal(401);
    await using plain = await startPlain([notes()], { pages: pages() });
    expect(await statusOf(plain.url + NOTES, { cookie: "session=bob" })).to.equal(200);
    expect(await statusOf(plain.url + NOTES, { cookie: "session=eve" })).to.equal(401);
    expect(await statusOf(plain.url + NOTES)).to.equal(401);
    using watch = await openWatch(plain.url, `${NOTES}?watch=true`, { headers: { cookie: "session=bob" } });
    expect(watch.response.statusCode).to.equal(101);
  });

  it("reaches no handler and no upstream, and other cookies do", async () => {
    const seen: unknown[] = [];
    await using there = await startListener((req, res) => {
      const { headers, rawHeaders, headersDistinct } = req;
      const names = rawHeaders.filter((_text, at) => at % 2 === 0).map((name) => name.toLowerCase());
      seen.push([headers.cookie, headersDistinct["cookie"], names.filter((name) => name === "authorization")]);
      res.end("{}");
    });
    await using passing = proxy({ upstream: { url: there.url } });
    const { handle } = passing;
    const view = defineVirtualWorkspace({ name: "there", path: "/", authorize: () => allow(), handle });
    await using server = await startPlain([view], { pages: pages() });
    const url = `${server.url}/services/there/x`;
    expect(await statusOf(url, { cookie: "a=1; session=bob; b=2" })).to.equal(200);
    expect(await statusOf(url, { cookie: "session=bob" })).to.equal(200);
    expect(seen).to.deep.equal([
      ["a=1; b=2", ["a=1; b=2"], []],
      [undefined, undefined, []],
    ]);
  });

  it("may add headers, such as those of impersonation, in the place of the client's own", async () => {
    const credentials: Pages["credentials"] = () => ({
      ...{ cookie: undefined, authorization: "Bearer bob" },
      headers: { "impersonate-user": ["carol"], "impersonate-group": ["a", "b"], "x-own": [] },
    });
    const rule: ImpersonationRule = () => allow();
    await using server = await startPlain([whoami()], { pages: { ...pages(), credentials }, impersonation: rule });
    const headers = { cookie: "session=bob", "impersonate-user": "eve", "x-own": "1" };
    const found = (await (await fetch(`${server.url}/services/who/`, { headers })).json()) as Whoami;
    expect([found.name, found.groups]).to.deep.equal(["carol", ["a", "b", "system:authenticated"]]);
    expect(JSON.stringify(found.headers)).not.to.match(/x-own|impersonate/i);
  });

  it("ends its open requests when it ends, over HTTP/2 and WebSockets", async () => {
    const authority = createAuthority();
    const open = new Set<() => void>();
    const opened: PageCredentials["opened"] = (end) => {
      open.add(end);
      return () => void open.delete(end);
    };
    const sessions: Pages = {
      ...pages(),
      credentials: () => ({ cookie: undefined, authorization: `Bearer ${ALICE.token}`, opened }),
    };
    await using server = await startTls([notes()], { authority, pages: sessions });
    using client = await Http2Client.open(server.port, { ca: authority.ca });
    const cookie = "session=bob";
    const [path, tls] = [`${NOTES}?watch=true`, { ca: authority.ca }];
    const stream = client.get(path, { cookie }).then(
      () => "ended",
      () => "cut",
    );
    using socket = await openWatch(`https://127.0.0.1:${server.port}`, path, { headers: { cookie }, ...tls });
    await until(() => open.size === 2);
    for (const end of [...open]) end();
    expect([await socket.closed, await stream]).to.deep.equal([1006, "cut"]);
    await until(() => open.size === 0);
    expect((await client.get(NOTES, { cookie })).status).to.equal(200);
    await until(() => open.size === 0);
  });

  it("is not used if its hook fails, which the log has", async () => {
    const log: string[] = [];
    const credentials = (): never => {
      throw new Error("no key");
    };
    await using server = await startPlain([notes()], {
      pages: { ...pages(), credentials },
      log: ({ level, message, error }) => {
        if (message === "pages failed") log.push(`${level} ${error}`);
      },
    });
    expect(await statusOf(server.url + NOTES, { cookie: "session=bob" })).to.equal(401);
    expect(await statusOf(server.url + NOTES, { cookie: "session=bob", authorization: "Bearer bob" })).to.equal(200);
    expect(log).to.deep.equal(["error Error: no key", "error Error: no key"]);
  });
});
