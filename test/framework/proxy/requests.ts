// What the upstream gets of a request.
import type { IncomingMessage, ServerResponse } from "node:http";
import { expect } from "chai";
import { Http2Client } from "../../_support/http2.ts";
import { createAuthority } from "../../_support/server.ts";
import { asAlice, bed, closed, linesOf } from "./bed.ts";
import type { Row } from "./rows.ts";

const echo = (req: IncomingMessage, res: ServerResponse): void => {
  const pieces: Buffer[] = [];
  req.on("data", (piece: Buffer) => pieces.push(piece));
  req.on("end", () => res.end(Buffer.concat(pieces)));
};

export const REQUESTS: readonly Row[] = [
  {
    what: "forwards path and query byte for byte (`//`, `%2F`), also below a base path",
    does: async (engine) => {
      await using here = await bed(engine, {}, { base: "/base/", path: ({ tail }) => tail });
      const target = "/a%2Fb//c%20d/%e2%82%ac//?x=//&y=%2F../..&z=a+b?";
      expect((await here.get(`/services/archive${target}`)).status).to.equal(200);
      expect(here.asked[0]?.url).to.equal(`/base${target}`);
      for (const path of ["/a/../b", "/a/%2e%2E/b"]) {
        using wire = await here.wire();
        wire.request(...asAlice(`GET ${path}`));
        expect((await wire.answer())?.status, path).to.equal(400);
      }
      expect(here.asked).to.have.length(1);
    },
  },
  {
    what: "keeps repeated request headers as separate lines, in their order",
    does: async (engine) => {
      const headers = (): string[] => ["Impersonate-User", "zoë", "Impersonate-Group", "g1", "Impersonate-Group", "g2"];
      await using here = await bed(engine, {}, { headers });
      using wire = await here.wire();
      wire.request(...asAlice("GET /x", "X-Own: 1", "Accept: a", "x-own: 2, 3"));
      await wire.answer();
      const lines = linesOf(here.asked[0] as never);
      const zoe = Buffer.from("zoë").toString("latin1");
      const those = lines.filter((line) => /^(?:x-own|impersonate)/.test(line));
      expect(those.sort()).to.deep.equal(
        [
          `impersonate-user: ${zoe}`,
          "impersonate-group: g1",
          "impersonate-group: g2",
          "x-own: 1",
          "x-own: 2, 3",
        ].sort(),
      );
    },
  },
  {
    what: "removes hop-by-hop headers, and headers that `Connection` lists",
    does: async (engine) => {
      await using here = await bed(engine, {});
      using wire = await here.wire();
      const own = [
        "Connection: X-Listed,keep-alive",
        "X-Listed: 1",
        "Keep-Alive: timeout=3",
        "TE: trailers",
        "Via: 1.1 a",
      ];
      wire.request(
        ...asAlice("GET /x", ...own, "Proxy-Authorization: x", "X-Forwarded-For: 10.0.0.1", "Forwarded: for=b"),
      );
      await wire.answer();
      const text = linesOf(here.asked[0] as never).join("\n");
      expect(text)
        .to.match(/^via: 1\.1 a, 1\.1 archive$/m)
        .and.match(/^x-kcp-virtual-resource-hops: 1$/m);
      expect(text).to.not.match(/listed|timeout=3|^te:|proxy-|forwarded/m);
    },
  },
  {
    what: "strips identity headers of clients in any spelling, also for anonymous callers and upgrades",
    does: async (engine) => {
      await using here = await bed(engine, { upgrade: (_req, socket) => socket.end("HTTP/1.1 403 No\r\n\r\n") });
      const claims = [
        "X-Remote-User: m",
        "x-remote-group: m",
        "X-Remote-Extra-Scopes%2fa: m",
        "X_Remote_User: m",
        "X-Remote-Uid: m",
      ];
      const more = ["Impersonate-Group: m", "impersonate-extra-x: m"];
      for (const upgrade of [[], ["Connection: Upgrade", "Upgrade: websocket"]]) {
        for (const who of [[], ["Authorization: Bearer alice"]]) {
          using wire = await here.wire();
          wire.request("GET /services/archive/x HTTP/1.1", "Host: x", ...who, ...claims, ...upgrade);
          await wire.answer();
        }
      }
      expect(here.asked).to.have.length(4);
      for (const asked of here.asked) expect(linesOf(asked).join("\n")).to.not.match(/: m$|authorization/m);
      using forged = await here.wire();
      forged.request(
        "GET /services/archive/x HTTP/1.1",
        "Host: x",
        "Authorization: Bearer alice",
        "Impersonate-User: bob",
        ...more,
      );
      expect((await forged.answer())?.status).to.equal(403);
      expect(here.asked).to.have.length(4);
    },
  },
  {
    what: "replaces a client's header when the proxy sets one of the same name",
    does: async (engine) => {
      await using here = await bed(engine, {}, { headers: () => ["X-Tenant", "ours", "Authorization", "Bearer ours"] });
      await here.get("/services/archive/x", { headers: { "x-tenant": "theirs" } });
      const lines = linesOf(here.asked[0] as never);
      expect(lines).to.include.members(["x-tenant: ours", "authorization: Bearer ours"]);
      expect(lines.join("\n")).to.not.match(/theirs|alice/);
    },
  },
  {
    what: "forwards request bodies unchanged, with a length or in chunks, for every method and type",
    does: async (engine) => {
      await using here = await bed(engine, { answer: echo });
      for (const method of ["POST", "DELETE", "PATCH"]) {
        using wire = await here.wire();
        wire.request(
          ...asAlice(`${method} /x`, "Transfer-Encoding: chunked", "Content-Type: application/vnd.kubernetes.protobuf"),
        );
        wire.send("3\r\none\r\n");
        wire.send("3\r\ntwo\r\n0\r\n\r\n");
        expect((await wire.answer())?.body).to.equal("onetwo");
        expect((await here.send(`${method as "POST"} /services/archive/x`, "{}")).text).to.equal("{}");
      }
      expect(here.asked[0]?.headers).to.include({ "content-type": "application/vnd.kubernetes.protobuf" });
      expect(here.asked[1]?.headers).to.include({ "content-length": "2" });
    },
  },
  {
    what: "answers `Expect: 100-continue` itself, and forwards a response that precedes the end of the body",
    does: async (engine) => {
      await using here = await bed(engine, { answer: (_req, res) => res.writeHead(413).end("too long") });
      using wire = await here.wire();
      wire.request(...asAlice("POST /x", "Content-Length: 100000", "Expect: 100-continue"));
      wire.send("some");
      expect(await wire.answer()).to.include({ status: 413, body: "too long" });
      expect(linesOf(here.asked[0] as never).join("\n")).to.not.match(/^expect/m);
    },
  },
  {
    what: "closes the upstream request when the client disconnects within its body",
    does: async (engine) => {
      const begun = Promise.withResolvers<void>();
      await using here = await bed(engine, { answer: (req) => void req.once("data", () => begun.resolve()) });
      const wire = await here.wire();
      wire.request(...asAlice("POST /x", "Content-Length: 1000"));
      wire.send("some");
      await begun.promise;
      wire.socket.destroy();
      await closed(here.asked[0] as never);
      expect(here.asked[0]?.complete).to.equal(false);
    },
  },
  {
    what: "serves HTTP/2 clients, and does not forward their pseudo-headers",
    does: async (engine) => {
      const authority = createAuthority();
      await using here = await bed(engine, { answer: echo }, { server: { tls: authority.server } });
      using client = await Http2Client.open(here.port, { ca: authority.ca });
      const headers = { authorization: "Bearer alice" };
      const answer = await client.ask({ method: "POST", path: "/services/archive/x", headers, body: "body" });
      expect(answer.text).to.equal("body");
      expect(linesOf(here.asked[0] as never).join("\n")).to.not.match(/^:/m);
    },
  },
];
