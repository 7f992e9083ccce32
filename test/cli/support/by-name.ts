// One port for several servers, selected by the TLS server name, as a load balancer with TLS passthrough does.
import { type LookupOptions, lookup } from "node:dns";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type LookupFunction, type Socket } from "node:net";

/** Domain whose names all resolve to this machine. */
export const DOMAIN = "views.test";
const OURS = new RegExp(`([a-z0-9-]+)\\.${DOMAIN.replace(".", "\\.")}`);
/** Maximum size of the first TLS record, bytes. */
const MOST = 16_389;

/** Resolves a name, including {@link DOMAIN}. */
export const thisMachine: LookupFunction = (name, options: LookupOptions, done) =>
  lookup(name.endsWith(`.${DOMAIN}`) ? "127.0.0.1" : name, options, done);

/** The running load balancer. */
export interface ByName extends AsyncDisposable {
  readonly port: number;
  /** Server names requested so far. */
  readonly asked: ReadonlySet<string>;
}

/** Starts the load balancer. @param portOf port of a server, by its name without the domain; 0 for none */
export async function startByName(portOf: (name: string) => number): Promise<ByName> {
  const sockets = new Set<Socket>();
  const asked = new Set<string>();
  const listener = createServer((client) => {
    const kept = (socket: Socket): Socket => {
      sockets.add(socket);
      return socket.on("close", () => sockets.delete(socket));
    };
    let hello = Buffer.alloc(0);
    kept(client).on("error", () => undefined);
    client.on("data", function look(bytes: Buffer) {
      hello = Buffer.concat([hello, bytes]);
      // The first message of a client contains the name in plain text.
      const [, name] = OURS.exec(hello.toString("latin1")) ?? [];
      if (name === undefined) return hello.length > MOST ? client.destroy() : undefined;
      client.pause().off("data", look);
      asked.add(name);
      const server = kept(connect(portOf(name), "127.0.0.1"));
      for (const [one, other] of [
        [client, server],
        [server, client],
      ] as const)
        one.on("error", () => other.destroy()).on("close", () => other.destroy());
      server.write(hello);
      client.pipe(server).pipe(client);
      return undefined;
    });
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  return {
    port: (listener.address() as AddressInfo).port,
    asked,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await once(listener, "close");
    },
  };
}
