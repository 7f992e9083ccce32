// examples/over-spaces/provider.ts in a process of its own.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { localNode, root } from "../../../../../tools/install.mjs";
import { Program } from "../../../../go/support/program.ts";

const EXAMPLE = join(root, "examples/over-spaces/provider.ts");

export class ProviderProgram extends Program {
  readonly #folder: string;

  constructor(folder: string) {
    super(localNode, ["--conditions=@virtual-workspaces/source", EXAMPLE, folder], { HOME: folder });
    this.#folder = folder;
  }

  /** Starts the program and waits until it listens. */
  static async start(folder: string): Promise<ProviderProgram> {
    const program = new ProviderProgram(folder);
    await program.until("URL", () => program.lines[0], 30_000);
    return program;
  }

  /** Contents for the Secret of a SpaceProviderDesc. */
  get secret(): Readonly<Record<"url" | "token" | "ca.crt", string>> {
    const at = (name: string): string => readFileSync(join(this.#folder, name), "utf8");
    return { url: at("url"), token: at("token"), "ca.crt": at("ca.crt") };
  }

  /** Names of its spaces on disk, as it finds them after a crash. */
  get spaces(): readonly string[] {
    const kept = JSON.parse(readFileSync(join(this.#folder, ".kept/spaces.json"), "utf8")) as readonly [
      string,
      unknown,
    ][];
    return kept.map(([name]) => name).sort();
  }

  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.ended;
  }
}
