// What the client gets of a response.
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { outcome } from "../../_support/plain.ts";
import { createAuthority } from "../../_support/server.ts";
import { asAlice, bed, closed } from "./bed.ts";
import type { Row } from "./rows.ts";

const WATCH = "/apis/b/v1/c?watch=1";
const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

export const ANSWERS: readonly Row[] = [
  {
    what: "sends the headers of an idle watch at once, and keeps the silent watch open",
    does: async (engine) => {
      await using here = await bed(engine, { answer: (_req, res) => res.writeHead(200).flushHeaders() });
      using wire = await here.wire();
      wire.request(...asAlice(`GET ${WATCH}`));
      await wire.begun(); // nothing else ever arrives
      expect(here.server.stats.longRunning).to.equal(1);
    },
  },
  {
    what: "treats `log?follow=true` as a long-running request, as it does a watch",
    does: async (engine) => {
      await using here = await bed(engine, { answer: (_req, res) => res.writeHead(200).flushHeaders() });
      using wire = await here.wire();
      wire.request(...asAlice("GET /api/v1/namespaces/a/pods/b/log?follow=true"));
      await wire.begun();
      expect(here.server.stats.longRunning).to.equal(1);
    },
  },
  {
    what: "closes the upstream watch when the client disconnects, before or after the response headers",
    does: async (engine) => {
      const come = Promise.withResolvers<void>();
      await using here = await bed(engine, {
        answer: (req, res) => {
          if (req.url?.includes("early") === true) come.resolve();
          else res.writeHead(200).flushHeaders();
        },
      });
      const early = await here.wire();
      early.request(...asAlice(`GET ${WATCH}&early`));
      await come.promise;
      early.socket.destroy();
      await closed(here.asked[0] as never);
      const late = await here.wire();
      late.request(...asAlice(`GET ${WATCH}`));
      await late.begun();
      late.socket.destroy();
      await closed(here.asked[1] as never);
    },
  },
  {
    what: "cuts the client's connection when a response breaks off, so that it never looks complete",
    does: async (engine) => {
      await using here = await bed(engine, {
        answer: (req, res) => {
          if (req.url?.endsWith("length") === true) res.setHeader("content-length", 100);
          res.write("half");
          setImmediate(() => res.destroy());
        },
      });
      for (const framing of ["length", "chunks"]) {
        using wire = await here.wire();
        wire.request(...asAlice(`GET /${framing}`));
        const said = await wire.rest();
        expect(said, framing)
          .to.match(/^HTTP\/1\.1 200/)
          .and.contain("half");
        expect(said).to.not.match(/\r\n0\r\n\r\n$/);
      }
    },
  },
  {
    what: "keeps repeated response headers as separate lines, and removes hop-by-hop headers",
    does: async (engine) => {
      const headers = {
        Warning: ['299 - "a"', '299 - "b"'],
        "Keep-Alive": "timeout=9",
        Connection: "X-Own",
        "X-Own": "1",
      };
      await using here = await bed(engine, { answer: (_req, res) => res.writeHead(200, headers).end("ok") });
      using wire = await here.wire();
      wire.request(...asAlice("GET /x", "Connection: close"));
      const text = await wire.rest();
      expect(text.match(/^warning: .*$/gim)).to.have.length(2);
      expect(text).to.not.match(/timeout=9|x-own/i);
    },
  },
  {
    what: "forwards compressed bodies byte for byte, headers of 64 KiB, 103, 204, 304 and HEAD",
    does: async (engine) => {
      const packed = gzipSync("x".repeat(1000));
      await using here = await bed(engine, {
        answer: (req, res) => {
          const { pathname } = new URL(req.url ?? "", "http://x");
          if (/\d$/.test(pathname)) res.writeHead(Number(pathname.slice(-3))).end();
          else if (pathname.endsWith("big")) res.writeHead(200, { "x-big": "b".repeat(64 * 1024) }).end("ok");
          else {
            res.writeEarlyHints({ link: "</a>; rel=preload" });
            res.writeHead(200, { "content-encoding": "gzip", "content-length": packed.length }).end(packed);
          }
        },
      });
      using wire = await here.wire();
      const ask = async (method: string, path: string) => {
        wire.request(...asAlice(`${method} ${path}`, "Accept-Encoding: gzip"));
        return wire.answer(method);
      };
      expect((await ask("HEAD", "/zip"))?.headers["content-length"]).to.equal(String(packed.length));
      for (const code of [204, 304]) expect((await ask("GET", `/${code}`))?.status).to.equal(code);
      expect((await ask("GET", "/big"))?.headers["x-big"]).to.have.length(64 * 1024);
      wire.request(...asAlice("GET /zip", "Accept-Encoding: gzip", "Connection: close"));
      await wire.begun();
      const pieces: Buffer[] = [];
      const whole = new Promise((resolve) => wire.socket.once("end", resolve));
      wire.socket.on("data", (piece: Buffer) => pieces.push(piece));
      await whole;
      expect(here.asked.at(-1)?.headers["accept-encoding"]).to.equal("gzip");
      expect(await wire.rest()).to.contain("content-encoding: gzip");
    },
  },
  {
    what: "slows the upstream down for a slow client, and buffers little",
    does: async (engine) => {
      let written = 0;
      await using here = await bed(engine, {
        answer: (_req, res) => {
          const more = (): void => {
            do written += 64 * 1024;
            while (res.write(Buffer.alloc(64 * 1024)));
            res.once("drain", more);
          };
          more();
        },
      });
      const wire = await here.wire();
      wire.socket.pause();
      wire.request(...asAlice("GET /x"));
      for (let before = -1; before !== written || written === 0; await turns(200)) before = written;
      expect(written).to.be.below(32 * 1024 * 1024);
      wire.socket.destroy();
      await closed(here.asked[0] as never);
    },
  },
  {
    what: "follows no redirect: rejects one to another host, and removes the host from one to the same",
    does: async (engine) => {
      let location = "";
      await using here = await bed(engine, { answer: (_req, res) => res.writeHead(307, { location }).end() });
      const ask = async (to: string) => {
        location = to;
        return here.get("/services/archive/x");
      };
      for (const to of ["https://evil.example/steal", "//evil.example/x", "\\\\evil.example"])
        expect((await ask(to)).status, to).to.equal(503);
      expect((await ask("/y?z=%2F")).headers.location).to.equal("/y?z=%2F");
      expect((await ask(`http://${here.asked[0]?.headers.host}/y?z=1`)).headers.location).to.equal("/y?z=1");
      expect(here.asked).to.have.length(5);
      expect(here.faults.map(String).join()).to.contain("redirects to another host");
    },
  },
  {
    what: "answers 503 with a Status without an address for an unreachable upstream, and reports it once",
    does: async (engine) => {
      await using here = await bed(engine, {}, { at: "http://127.0.0.1:9" });
      for (const _ of [1, 2]) {
        const said = outcome(await here.get("/services/archive/x"));
        expect(said).to.deep.equal([503, "ServiceUnavailable", "the archive cannot be reached; try again"]);
      }
      expect(here.faults).to.have.length(1);
    },
  },
  {
    what: "answers 503 without a request to an upstream that the configured CAs did not certify",
    does: async (engine) => {
      const authority = createAuthority();
      const [good, bad] = [authority.ca, createAuthority().ca];
      await using here = await bed(engine, {}, { tls: { authority, ca: bad } });
      const said = outcome(await here.get("/services/archive/x"));
      expect(said).to.deep.equal([503, "ServiceUnavailable", "the archive cannot be trusted"]);
      expect(here.asked).to.have.length(0);
      await using trusted = await bed(engine, {}, { tls: { authority, ca: good } });
      expect((await trusted.get("/services/archive/x")).text).to.equal("ok");
    },
  },
  {
    what: "answers 504 to a write without a response, sent once; maps 401 of own credentials to 503",
    does: async (engine) => {
      await using here = await bed(engine, { answer: (req) => req.socket.destroy() });
      expect((await here.send("POST /services/archive/x", "{}")).status).to.equal(504);
      expect(here.asked).to.have.length(1);
      const answer: Parameters<typeof bed>[1]["answer"] = (_req, res) => void res.writeHead(401).end("who are you?");
      await using stranger = await bed(engine, { answer });
      expect((await stranger.get("/services/archive/x")).status).to.equal(503);
      await using theirs = await bed(engine, { answer }, { callersCredentials: true });
      expect((await theirs.get("/services/archive/x")).status).to.equal(401);
    },
  },
];
