// Ports in the text of a page, which may be in use on this machine: each becomes a free one, the same one throughout. A command
// that names a port which no server of the page has fails, as for a reader.
import { freePort } from "../../_support/free-ports.ts";

/** Ports of servers that name none. */
const DEFAULT_PORTS = { start: 6443, serve: 6444, "front-proxy": 443 } as const;

export class Ports {
  readonly #actual = new Map<number, number>();
  /** Servers of the page by their ports in its text. */
  readonly #holders = new Map<number, string>();

  /**
   * Returns the flags of a server with actual ports, without its own port; that port as on the page, and the actual one.
   *
   * @throws Error when another server of the page has the port
   */
  async of(
    command: keyof typeof DEFAULT_PORTS,
    flags: readonly string[],
  ): Promise<{ readonly flags: readonly string[]; readonly own: number; readonly port: number }> {
    const own = numberOf(flags, "secure-port") ?? DEFAULT_PORTS[command];
    // Each further shard of a workspace server has the next port.
    const shards = command === "start" ? (numberOf(flags, "shards") ?? 1) : 1;
    for (let port = own; port < own + shards; port++) {
      const holder = this.#holders.get(port);
      if (holder !== undefined) throw new Error(`${command} of the page needs port ${port}, which ${holder} has`);
      this.#holders.set(port, command);
    }
    const named = flags.join(" ").matchAll(/127\.0\.0\.1:(\d+)/g);
    for (const port of [own, ...[...named].map(([, port]) => Number(port))])
      if (!this.#actual.has(port)) this.#actual.set(port, await freePort());
    return {
      flags: flags.filter((flag) => !flag.startsWith("--secure-port=")).map((flag) => this.in(flag)),
      own,
      port: this.#actual.get(own) ?? 0,
    };
  }

  /** The server with this port has chosen another actual one. */
  moved(own: number, port: number): void {
    this.#actual.set(own, port);
  }

  /** The workspace server has ended. */
  release(): void {
    for (const [port, holder] of this.#holders) if (holder === "start") this.#holders.delete(port);
  }

  /** Replaces the ports of the page in a text. */
  in(text: string): string {
    return text.replace(/(?<=127\.0\.0\.1:)\d+/g, (port) => String(this.#actual.get(Number(port)) ?? port));
  }
}

function numberOf(flags: readonly string[], name: string): number | undefined {
  const flag = flags.find((one) => one.startsWith(`--${name}=`));
  return flag === undefined ? undefined : Number(flag.slice(name.length + 3));
}
