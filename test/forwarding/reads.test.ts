// forward(): gets and lists are forwarded as bytes, with options, errors and warnings.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { until } from "../_support/until.ts";
import { credentialed, type Here, MEMOS, startHere, startThere, type There } from "./upstream.ts";

const TEXT = { "content-type": "text/plain; charset=utf-8" };
/** Text of servers written in Go, API servers and others. */
const NO_PATH = "404 page not found\n";

async function both(): Promise<{ there: There; here: Here } & AsyncDisposable> {
  const there = await startThere();
  const here = await startHere({ upstream: there.upstream });
  return {
    there,
    here,
    [Symbol.asyncDispose]: async () => {
      await here[Symbol.asyncDispose]();
      await there[Symbol.asyncDispose]();
    },
  };
}

/** Starts a server with any answer. */
async function answering(listener: RequestListener): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("a forwarded get", () => {
  it("returns the upstream's own bytes, requested as the caller", async () => {
    await using at = await both();
    at.there.memos.in("root", "a").set("x", { text: "ä" });
    const path = `${MEMOS}/namespaces/a/memos/x`;
    const [own, forwarded] = [await at.there.server.get(path), await at.here.server.get(path)];
    expect(forwarded.status).to.equal(200);
    expect(forwarded.text).to.equal(own.text);
    expect(at.there.asked.at(-1)).to.deep.equal({ user: "alice", verb: "get" });
  });

  it("returns 404 for a missing object, and the upstream's own 403", async () => {
    await using at = await both();
    const path = `${MEMOS}/namespaces/a/memos/x`;
    expect((await at.here.server.get(path)).body.message).to.equal('memos.test.dev "x" not found');
    at.there.barred.add("alice");
    const [own, forwarded] = [await at.there.server.get(path), await at.here.server.get(path)];
    expect(forwarded.status).to.equal(403);
    expect(forwarded.body).to.deep.equal(own.body);
  });

  it("is also available as Table, YAML and metadata", async () => {
    await using at = await both();
    at.there.memos.in("root", "a").set("x", { text: "hello" });
    for (const accept of [
      "application/json;as=Table;g=meta.k8s.io;v=v1",
      "application/yaml",
      "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    ]) {
      const path = `${MEMOS}/namespaces/a/memos/x`;
      const call = { headers: { accept } };
      // A second may pass between the two requests.
      const textOf = async ({ server }: Pick<typeof at.here, "server">): Promise<string> =>
        (await server.get(path, call)).text.replace(/"\d+s"/, '"0s"');
      expect(await textOf(at.here)).to.equal(await textOf(at.there));
    }
  });

  it("keeps Retry-After and warnings of the upstream", async () => {
    await using raw = await answering((_req, res) => {
      res.writeHead(429, {
        "Content-Type": "application/json",
        "Retry-After": "7",
        Warning: '299 - "be \\"patient\\""',
      });
      res.end(
        JSON.stringify({
          kind: "Status",
          apiVersion: "v1",
          status: "Failure",
          reason: "TooManyRequests",
          message: "later",
          code: 429,
        }),
      );
    });
    await using here = await startHere({ upstream: credentialed(raw.url) });
    const { status, headers, body } = await here.server.get(`${MEMOS}/namespaces/a/memos/x`);
    expect([status, body.reason, body.message]).to.deep.equal([429, "TooManyRequests", "later"]);
    expect([headers["retry-after"], headers["warning"]]).to.deep.equal(["7", '299 - "be \\"patient\\""']);
  });

  const faults: Record<string, RequestListener> = {
    "a page of a proxy": (_req, res) => res.writeHead(200, { "Content-Type": "text/html" }).end("<html>"),
    "another kind": (_req, res) =>
      res.writeHead(200, { "Content-Type": "application/json" }).end('{"kind":"Other","apiVersion":"v1"}'),
    "half an object": (_req, res) => res.writeHead(200, { "Content-Type": "application/json" }).end('{"spec":'),
    "a broken connection": (_req, res) => void res.socket?.destroy(),
    "a redirect": (_req, res) => res.writeHead(302, { Location: "http://elsewhere.example/" }).end(),
    "a 401": (_req, res) => res.writeHead(401).end(),
    "an error without a Status": (_req, res) => res.writeHead(502).end("bad gateway"),
    "a 404 in text, as from a proxy written in Go": (_req, res) => res.writeHead(404, TEXT).end(NO_PATH),
  };
  for (const [what, listener] of Object.entries(faults)) {
    it(`is 503 without the upstream's address if it gets ${what}`, async () => {
      await using raw = await answering(listener);
      await using here = await startHere({ upstream: credentialed(`${raw.url}/secret-path`) });
      const { status, body, headers } = await here.server.get(`${MEMOS}/namespaces/a/memos/x`);
      expect([status, body.reason]).to.deep.equal([503, "ServiceUnavailable"]);
      expect(body.message)
        .to.match(/^the server behind this view /)
        .and.not.to.contain("127.0.0.1");
      expect(here.errors.map(String).join()).to.contain(raw.url);
      expect(headers["retry-after"]).to.equal("1");
    });
  }

  it("is 503 for a path that the upstream does not serve, as during its startup; 404 with an empty list if the kind may be missing", async () => {
    await using raw = await answering((_req, res) => res.writeHead(404, { ...TEXT, "audit-id": "x" }).end(NO_PATH));
    {
      await using here = await startHere({ upstream: credentialed(raw.url) });
      expect((await here.server.get(`${MEMOS}/memos`)).status).to.equal(503);
      expect(here.errors).to.have.length(1);
    }
    await using empty = await startHere({ upstream: credentialed(raw.url), unserved: "empty" });
    const { status, body } = await empty.server.get(`${MEMOS}/namespaces/a/memos/x`);
    expect([status, body.reason]).to.deep.equal([404, "NotFound"]);
    expect((await empty.server.get(`${MEMOS}/memos`)).body.items).to.deep.equal([]);
    expect(empty.errors).to.deep.equal([]);
  });

  it("is 503 if the upstream is down", async () => {
    await using here = await startHere({ upstream: credentialed("http://127.0.0.1:1") });
    const { status, body } = await here.server.get(`${MEMOS}/namespaces/a/memos/x`);
    expect([status, body.message]).to.deep.equal([503, "the server behind this view cannot be reached; try again"]);
    expect(here.errors.map(String).join()).to.contain("http://127.0.0.1:1/");
  });
});

describe("the operator of a forwarding view", () => {
  it("gets one report for any number of failing requests, and another one for the next failures", async () => {
    let code = 502;
    const success = JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Success" });
    await using raw = await answering((_req, res) =>
      res.writeHead(code, { "Content-Type": "application/json" }).end(code === 200 ? success : "{}"),
    );
    await using here = await startHere({ upstream: credentialed(raw.url) });
    const ask = async (...calls: `${"GET" | "POST" | "DELETE"} /${string}`[]): Promise<void> => {
      for (const call of calls) await here.server.send(call, call.startsWith("POST") ? {} : undefined);
    };
    const one = `${MEMOS}/namespaces/a/memos/x` as const;
    await ask(`GET ${one}`, `GET ${MEMOS}/memos`, `DELETE ${one}`, `GET ${one}`);
    expect(here.errors.map(String)).to.deep.equal([`Error: ${raw.url} answered 502, but not as an API server does`]);
    code = 200;
    await ask(`DELETE ${one}`);
    code = 502;
    await ask(`GET ${one}`, `GET ${one}`);
    expect(here.errors.length).to.equal(2);
  });
});

describe("a forwarded list", () => {
  it("has the upstream's own bytes, pages, selectors and versions", async () => {
    await using at = await both();
    for (let i = 0; i < 10; i++)
      at.there.memos
        .in("root", i % 2 === 0 ? "a" : "b")
        .set(`m${i}`, { text: `${i}` }, { labels: { odd: `${i % 2}` } });
    const first = await at.here.server.get(`${MEMOS}/memos?limit=3`);
    for (const query of [
      "",
      "?limit=3",
      `?limit=3&continue=${first.body.metadata.continue}`,
      "?labelSelector=odd%3D1",
      "?fieldSelector=metadata.name%3Dm3",
      `?resourceVersion=${first.body.metadata.resourceVersion}&resourceVersionMatch=Exact`,
      "?resourceVersion=0",
    ]) {
      for (const place of ["/memos", "/namespaces/a/memos"]) {
        const path = `${MEMOS}${place}${query}`;
        const [own, forwarded] = [await at.there.server.get(path), await at.here.server.get(path)];
        expect(forwarded.text, path).to.equal(own.text);
        expect(forwarded.headers["content-length"], path).to.equal(own.headers["content-length"]);
      }
    }
    const wild = "/services/memos/clusters/*/apis/test.dev/v1/memos";
    expect((await at.here.server.get(wild)).text).to.equal((await at.there.server.get(wild)).text);
    const table = { headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" } };
    const rows = async ({ server }: { readonly server: typeof at.here.server }): Promise<string> =>
      (await server.get(`${MEMOS}/memos?limit=3`, table)).text;
    // Ages are in seconds, so a new second may begin between the two requests.
    await until(async () => (await rows(at.here)) === (await rows(at.there)), { what: "equal tables" });
    expect((await at.here.server.get(`${MEMOS}/memos?limit=1&continue=bad`)).status).to.equal(400);
  });

  const item = (name: string): object => ({
    metadata: { name, namespace: "a", resourceVersion: "7", uid: name },
    spec: { text: name },
  });
  const whole = JSON.stringify({
    apiVersion: "test.dev/v1",
    items: [item("x"), item("y")],
    kind: "MemoList",
    metadata: { resourceVersion: "9" },
  });

  it("stays compressed for clients that accept it, and is decompressed for others", async () => {
    const asked: unknown[] = [];
    await using raw = await answering((req, res) => {
      asked.push(req.headers["accept-encoding"]);
      const zipped = req.headers["accept-encoding"] === "gzip";
      res.writeHead(200, { "Content-Type": "application/json", ...(zipped && { "Content-Encoding": "gzip" }) });
      res.end(zipped ? gzipSync(whole) : whole);
    });
    await using here = await startHere({ upstream: credentialed(raw.url) });
    const response = await fetch(`${here.server.url}${MEMOS}/memos`, {
      headers: { authorization: "Bearer alice", "accept-encoding": "gzip" },
    });
    expect([response.headers.get("content-encoding"), await response.text()]).to.deep.equal(["gzip", whole]);
    const plain = await here.server.get(`${MEMOS}/memos`);
    expect([plain.headers["content-encoding"], plain.text]).to.deep.equal([undefined, whole]);
    const table = await here.server.get(`${MEMOS}/memos`, {
      headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1", "accept-encoding": "gzip" },
    });
    expect(table.body.rows.map((row: { cells: unknown[] }) => row.cells[0])).to.deep.equal(["x", "y"]);
    expect(asked).to.deep.equal(["gzip", undefined, "gzip"]);
  });

  it("breaks off if the upstream's response does", async () => {
    await using raw = await answering((_req, res) => {
      res.writeHead(200, { "Content-Type": "application/json" });
      res.write(`${whole.slice(0, 60)}`, () => setImmediate(() => res.destroy()));
    });
    await using here = await startHere({ upstream: credentialed(raw.url) });
    const failed = await here.server.get(`${MEMOS}/memos`).then(
      ({ status }) => status,
      (error) => error.code,
    );
    expect(failed).to.be.oneOf(["ECONNRESET", 503]);
  });

  it("of a wrong kind or incomplete is 503 as a Table too, compressed or not, and never a shorter list", async () => {
    const item = '{"kind":"Memo","apiVersion":"test.dev/v1","metadata":{"name":"x","resourceVersion":"1"}}';
    const whole = `{"kind":"MemoList","metadata":{"resourceVersion":"7","items":1},"\\u0069tems":[${item}]}`;
    const bodies = [
      [whole, 200],
      [whole.slice(0, -1), 503],
      [whole.replace("MemoList", "PodList"), 503],
      [whole.replace('"x"', "5"), 503],
      [whole.replace('"1"', "1"), 503],
      ['{"metadata":{},"kind":"Status"}', 503],
    ] as const;
    for (const [body, status] of bodies) {
      for (const encode of [gzipSync, Buffer.from]) {
        const coding = encode === gzipSync ? { "Content-Encoding": "gzip" } : {};
        await using raw = await answering((_req, res) =>
          res.writeHead(200, { "Content-Type": "application/json", ...coding }).end(encode(body)),
        );
        await using here = await startHere({ upstream: credentialed(raw.url) });
        const accept = "application/json;as=Table;g=meta.k8s.io;v=v1";
        const answer = await here.server.get(`${MEMOS}/memos`, { headers: { accept } });
        expect([answer.status, answer.body.rows?.length], body).to.deep.equal([status, status === 200 ? 1 : undefined]);
      }
    }
    expectFault(/reading a list failed/);
  });

  it("of a wrong kind, not JSON or empty is 503", async () => {
    for (const body of ['{"kind":"PodList","apiVersion":"v1","items":[]}', "[]", ""]) {
      await using raw = await answering((_req, res) =>
        res.writeHead(200, { "Content-Type": "application/json" }).end(body),
      );
      await using here = await startHere({ upstream: credentialed(raw.url) });
      expect((await here.server.get(`${MEMOS}/memos`)).status, body).to.equal(503);
    }
  });

  it("is transformed item by item, with 64-bit integers and other members of the list kept", async () => {
    const text = `{"apiVersion":"test.dev/v1","items":[${JSON.stringify({ apiVersion: "test.dev/v1", kind: "Memo", ...item("x") }).replace('"text":"x"', '"big":9007199254740993')}, ${JSON.stringify({ apiVersion: "test.dev/v1", kind: "Memo", ...item("y") })}],"kind":"MemoList","metadata":{"resourceVersion":"9","continue":"t"}}`;
    await using raw = await answering((_req, res) => {
      res.writeHead(200, { "Content-Type": "application/json" });
      // Split at every awkward position.
      for (let at = 0; at < text.length; at += 7) res.write(text.slice(at, at + 7));
      res.end();
    });
    await using here = await startHere({
      upstream: credentialed(raw.url),
      transform: { show: (memo, { cluster }) => ({ ...memo, spec: { ...memo.spec, text: `shown in ${cluster}` } }) },
    });
    const list = await here.server.get(`${MEMOS}/memos`);
    expect(list.body.items.map(({ spec }: { spec: { text: string } }) => spec.text)).to.deep.equal([
      "shown in root",
      "shown in root",
    ]);
    expect(list.text).to.contain('"big":9007199254740993');
    expect(list.body.metadata).to.deep.equal({ resourceVersion: "9", continue: "t" });
  });
});
