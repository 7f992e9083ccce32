// Connections that another server has accepted: a server that does not listen serves them, and closes like any other.
import { once } from "node:events";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { allow, createServer, defineVirtualWorkspace, type Server, staticTokens } from "@virtual-workspaces/framework";
import { clientCertificates } from "@virtual-workspaces/framework/authn";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { Note } from "../_support/note.ts";
import { createAuthority } from "../_support/server.ts";
import { Wire } from "../_support/wire.ts";

const NOTES = "/services/notes/apis/test.dev/v1/notes";

describe("a server that takes accepted connections", () => {
  const authority = createAuthority();
  const identity = authority.client("admin", []);

  function newServer(tls: boolean, setup: () => void): Server {
    const view = defineVirtualWorkspace({
      name: "notes",
      path: "/",
      authorize: () => allow(),
      resources: [Note.serve(Note.collection())],
      setup: () => {
        setup();
        return undefined;
      },
    });
    return createServer({
      virtualWorkspaces: [view],
      authentication: [clientCertificates({ ca: authority.ca }), staticTokens({ secret: { name: "alice" } })],
      ...(tls ? { tls: { ...authority.server, clientCa: authority.ca } } : {}),
      log: testLog().log,
    });
  }

  async function open(path: string, { port, tls }: { port: number; tls: boolean }): Promise<IncomingMessage> {
    const options = { port, host: "127.0.0.1", path, agent: false };
    const req = tls
      ? requestHttps({ ...options, ca: authority.ca, ...identity })
      : requestHttp({ ...options, headers: { authorization: "Bearer secret" } });
    const [res] = (await once(req.end(), "response")) as [IncomingMessage];
    res.resume();
    return res;
  }

  for (const tls of [true, false]) {
    it(`serves them ${tls ? "with" : "without"} TLS, sets up once, and ends their watches when it closes`, async () => {
      let setUp = 0;
      const server = newServer(tls, () => setUp++);
      await Promise.all([server.start(), server.start()]);
      // Like a process that hands connections over: nothing was read before.
      const door = createTcpServer({ pauseOnConnect: true }, (socket: Socket) => server.accept(socket));
      await once(door.listen(0, "127.0.0.1"), "listening");
      const { port } = door.address() as AddressInfo;
      const list = await open(NOTES, { port, tls });
      await once(list, "end");
      expect([list.statusCode, setUp]).to.deep.equal([200, 1]);

      const watch = await open(`${NOTES}?watch=true`, { port, tls });
      await Promise.all([server.close(), once(watch, "end")]);
      expect(watch.complete).to.equal(true);
      await once(door.close(), "close");
    });

    it(`limits them ${tls ? "with" : "without"} TLS as if it listened`, async () => {
      await using server = createServer({
        virtualWorkspaces: [],
        authentication: [],
        ...(tls ? { tls: authority.server } : {}),
        maxConnections: 2,
        headersTimeout: 100,
        log: testLog().log,
      });
      await server.start();
      const told: string[] = [];
      const door = createTcpServer({ pauseOnConnect: true }, (socket: Socket) => {
        const { setNoDelay, setKeepAlive } = socket;
        socket.setNoDelay = (on) => {
          told.push(`noDelay ${on}`);
          return setNoDelay.call(socket, on);
        };
        socket.setKeepAlive = ((on?: boolean, delay?: number) => {
          told.push(`keepAlive ${on} ${delay}`);
          return setKeepAlive.call(socket, on, delay);
        }) as Socket["setKeepAlive"];
        server.accept(socket);
      });
      await once(door.listen(0, "127.0.0.1"), "listening");
      const { port } = door.address() as AddressInfo;
      const options = { patience: 9000, ...(tls ? { tls: { ca: authority.ca } } : {}) };
      {
        using silent = await Wire.open(port, options);
        using trickling = await Wire.open(port, options);
        trickling.send("GET /livez HTTP/1.1\r\n");
        using third = await Wire.open(port, { patience: 9000 });
        await third.end();
        expect([silent.ended, trickling.ended]).to.deep.equal([undefined, undefined]);
        expect(told).to.deep.equal([1, 2].flatMap(() => ["noDelay true", "keepAlive true 180000"]));
        for (const wire of [silent, trickling]) expect(await wire.answer()).to.have.property("status", 408);
        await Promise.all([silent.end(), trickling.end()]);
      }
      // Closed connections free their places.
      const probe = async (): Promise<string | undefined> => {
        using wire = await Wire.open(port, options);
        wire.request("GET /livez HTTP/1.1", "Host: x");
        return (await wire.answer())?.body;
      };
      while ((await probe().catch(() => undefined)) !== "ok");
      await once(door.close(), "close");
    }).timeout(30_000);
  }
});
