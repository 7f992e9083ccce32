// Connections that switch to another protocol.
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { expect } from "chai";
import { asAlice, type Bed, bed, closed, linesOf } from "./bed.ts";
import type { Row } from "./rows.ts";

const WEBSOCKET = ["Connection: Upgrade", "Upgrade: websocket"];
const SPDY = ["Connection: Upgrade", "Upgrade: SPDY/3.1", "Content-Length: 0"];
const switched = (protocol: string | undefined): string =>
  `HTTP/1.1 101 Switching Protocols\r\nUpgrade: ${protocol}\r\nConnection: Upgrade\r\nX-Said: yes\r\n\r\n`;

/** Sends a greeting, then echoes, and ends when the other end does. */
function echo({ headers }: IncomingMessage, socket: Duplex, head: Buffer): void {
  socket.write(`${switched(headers.upgrade)}hello `);
  socket.write(head);
  socket.pipe(socket);
}

async function echoes(here: Bed, first: string, upgrade: readonly string[]): Promise<void> {
  using wire = await here.wire();
  wire.send(`${asAlice(first, ...upgrade).join("\r\n")}\r\n\r\nearly `);
  expect(await wire.answer()).to.deep.include({ status: 101 });
  expect(String(await wire.read("hello early ".length))).to.equal("hello early ");
  wire.send("late");
  wire.socket.end();
  expect(await wire.rest()).to.equal("late");
  await closed(here.asked[0] as never);
}

export const UPGRADES: readonly Row[] = [
  {
    what: "forwards WebSocket upgrades (GET) with early and last bytes of both ends, and the proxy's headers",
    does: async (engine) => {
      await using here = await bed(engine, { upgrade: echo }, { headers: () => ["Impersonate-User", "alice"] });
      const more = ["Sec-WebSocket-Protocol: v5.channel.k8s.io", "Origin: http://x"];
      await echoes(here, "GET /exec", [...WEBSOCKET, ...more]);
      const asked = here.asked[0] as IncomingMessage;
      expect(asked.headers.origin, "the origin is the upstream's own").to.equal(`http://${asked.headers.host}`);
      const lines = ["impersonate-user: alice", "sec-websocket-protocol: v5.channel.k8s.io", "upgrade: websocket"];
      expect(linesOf(here.asked[0] as never)).to.include.members(lines);
    },
  },
  {
    what: "forwards SPDY upgrades (POST), which kubectl before 1.30 uses for exec and port-forward",
    does: async (engine) => {
      await using here = await bed(engine, { upgrade: echo });
      await echoes(here, "POST /exec", SPDY);
      expect(here.asked[0]?.method).to.equal("POST");
    },
    instead: {
      "http-proxy": async () => {
        await using here = await bed("http-proxy", { upgrade: echo });
        using wire = await here.wire();
        wire.request(...asAlice("POST /exec", ...SPDY));
        const answer = await wire.answer();
        expect(JSON.parse(answer?.body ?? "")).to.include({ kind: "Status", code: 400, reason: "BadRequest" });
        expect(here.asked).to.have.length(0);
      },
    },
  },
  {
    what: "forwards the whole response of a rejected upgrade, and sends nothing after it to the upstream",
    does: async (engine) => {
      let more = "";
      await using here = await bed(engine, {
        upgrade: (_req, socket) => {
          socket.on("data", (piece) => {
            more += piece;
          });
          const body = '{"reason":"no"}';
          socket.write(
            `HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
          );
        },
      });
      using wire = await here.wire();
      wire.send(`${asAlice("GET /exec", ...WEBSOCKET).join("\r\n")}\r\n\r\nGET /secret HTTP/1.1\r\n\r\n`);
      expect(await wire.rest()).to.match(/^HTTP\/1\.1 403 .*\r\n\r\n\{"reason":"no"\}$/s);
      await closed(here.asked[0] as never);
      expect(more).to.equal("");
    },
  },
  {
    what: "answers 503 with a Status to an upgrade while the upstream is unreachable",
    does: async (engine) => {
      await using here = await bed(engine, {}, { at: "http://127.0.0.1:9" });
      using wire = await here.wire();
      wire.request(...asAlice("GET /exec", ...WEBSOCKET));
      const answer = await wire.answer();
      expect(JSON.parse(answer?.body ?? "")).to.include({ kind: "Status", code: 503, reason: "ServiceUnavailable" });
    },
  },
  {
    what: "cuts an upgraded connection at one end when the other end cuts it",
    does: async (engine) => {
      let there: Duplex | undefined;
      await using here = await bed(engine, {
        upgrade: (req, socket) => {
          there = socket.resume();
          socket.write(switched(req.headers.upgrade));
        },
      });
      const left = await here.wire();
      left.request(...asAlice("GET /exec", ...WEBSOCKET));
      await left.answer();
      left.socket.resetAndDestroy();
      await closed(here.asked[0] as never);
      using wire = await here.wire();
      wire.request(...asAlice("GET /exec", ...WEBSOCKET));
      await wire.answer();
      there?.destroy();
      await wire.end();
    },
  },
  {
    what: "lets the upstream end its half of an upgraded connection and still read",
    does: async (engine) => {
      const heard = Promise.withResolvers<string>();
      await using here = await bed(engine, { upgrade: lastWords(heard.resolve) });
      using wire = await here.wire();
      wire.request(...asAlice("GET /exec", ...WEBSOCKET));
      await wire.answer();
      expect(await wire.rest()).to.equal("bye");
      wire.socket.end("still here");
      expect(await heard.promise).to.equal("still here");
    },
    instead: {
      "http-proxy": async () => {
        const heard = Promise.withResolvers<string>();
        await using here = await bed("http-proxy", { upgrade: lastWords(heard.resolve) });
        using wire = await here.wire();
        wire.request(...asAlice("GET /exec", ...WEBSOCKET));
        await wire.answer();
        expect(await wire.rest()).to.equal("bye");
        expect(await heard.promise).to.equal("");
      },
    },
  },
];

function lastWords(heard: (text: string) => void): (req: IncomingMessage, socket: Duplex) => void {
  return (req, socket) => {
    socket.write(switched(req.headers.upgrade));
    socket.end("bye");
    let text = "";
    socket.on("data", (piece) => {
      text += piece;
    });
    socket.once("end", () => heard(text));
  };
}
