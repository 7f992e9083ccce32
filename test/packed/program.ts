import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/** Answer of a user's server. */
interface Answer {
  readonly status: number;
  readonly body: unknown;
}

interface Body {
  readonly type: string;
  readonly body: object | string;
}

/** A user's server in its own process, which prints its address and each thread that it starts. */
export class Program implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<null, Readable, null>;
  readonly #ended: Promise<unknown[]>;
  readonly #url: string;
  /** Number of started threads. */
  threads = 0;

  private constructor(child: ChildProcessByStdio<null, Readable, null>, url: string) {
    this.#child = child;
    this.#ended = once(child, "close");
    this.#url = url;
  }

  static async start(node: string, entry: string, folder: string): Promise<Program> {
    const child = spawn(node, ["--disable-warning=ExperimentalWarning", entry], {
      cwd: folder,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines = createInterface(child.stdout);
    const [url] = await Promise.race([once(lines, "line"), once(child, "close").then(() => [undefined])]);
    if (typeof url !== "string") throw new Error(`${entry} ended before it listened`);
    const program = new Program(child, url);
    lines.on("line", () => program.threads++);
    return program;
  }

  async send(method: string, path: string, content?: Body): Promise<Answer> {
    const headers: Record<string, string> = { authorization: "Bearer secret", connection: "close" };
    if (content !== undefined) headers["content-type"] = content.type;
    const body = typeof content?.body === "object" ? JSON.stringify(content.body) : content?.body;
    const response = await fetch(this.#url + path, { method, headers, ...(body === undefined ? {} : { body }) });
    return { status: response.status, body: await response.json() };
  }

  /** Stops the server. @returns its exit code and signal */
  async stop(): Promise<unknown[]> {
    this.#child.kill("SIGTERM");
    return await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
