// A connection that delivers the response before it reports the request as written, as TLS does on a busy machine.
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { Duplex } from "node:stream";
import { Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";

describe("an upstream whose connections report writes late", () => {
  it("reuses them", async () => {
    const server = createServer((_req, res) => void res.end("here"));
    await once(server.listen(0, "127.0.0.1"), "listening");
    let dialled = 0;
    await using upstream = new Upstream({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      dial: async ({ host, port }) => {
        dialled += 1;
        return tellingLate(host, port);
      },
    });
    for (let turn = 0; turn < 5; turn++) {
      expect((await upstream.send({ path: "/" })).body.toString()).to.equal("here");
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(dialled).to.equal(1);
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
});

/** Reports a write only after the response has arrived, within that turn. */
function tellingLate(host: string, port: number): Duplex {
  const socket = connect(port, host);
  let written: (() => void) | undefined;
  const duplex = new Duplex({
    read: () => void socket.resume(),
    write: (piece: Buffer, _encoding, done) => {
      written = done;
      socket.write(piece);
    },
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  socket.on("data", (piece) => {
    setImmediate(() => written?.());
    duplex.push(piece);
  });
  socket.on("error", () => duplex.destroy()).on("close", () => duplex.destroy());
  return duplex;
}
