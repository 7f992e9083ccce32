// A connection on which the answer comes before it is told that the request was written, as TLS does it on a busy machine.
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { Duplex } from "node:stream";
import { Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";

describe("an upstream whose connections tell late that they have written", () => {
  it("uses them again", async () => {
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

/** Says that it has written once the answer has come, within that turn. */
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
