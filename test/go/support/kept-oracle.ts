// Oracle as an upstream, with a port and a folder that outlive it, so that it can be killed and restarted.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UpstreamOptions } from "@virtual-workspaces/transport";
import { Authority, type KeyPair } from "../../_support/certificates.ts";
import { crdOf } from "../../differential/crd.ts";
import type { DifferentialKind } from "../../differential/kinds/kind.ts";
import { goProgram } from "./build.ts";
import { Program } from "./program.ts";

/** Kubernetes' own server of some kinds, over its own etcd. */
export class KeptOracle implements AsyncDisposable {
  readonly #kinds: readonly DifferentialKind[];
  readonly #folder: string;
  readonly #admin: KeyPair;
  #program: Program | undefined;
  #url = "";
  #own = "";

  private constructor(kinds: readonly DifferentialKind[], place: { readonly folder: string; readonly admin: KeyPair }) {
    this.#kinds = kinds;
    this.#folder = place.folder;
    this.#admin = place.admin;
  }

  static async start(kinds: readonly DifferentialKind[]): Promise<KeptOracle> {
    const folder = await mkdtemp(join(tmpdir(), "oracle-"));
    const authority = Authority.root("clients");
    await writeFile(join(folder, "clients.crt"), authority.cert);
    const admin = authority.issue({ name: "forwarder", organizations: ["system:masters"] });
    const oracle = new KeptOracle(kinds, { folder, admin });
    await oracle.resume();
    return oracle;
  }

  /** Returns it as an upstream, with a client certificate that may do everything, including impersonation. */
  get upstream(): UpstreamOptions {
    const { cert, key } = this.#admin;
    return { url: this.#url, tls: { ca: this.#own }, credentials: { get: () => ({ cert, key }) } };
  }

  /** Stops it like a crash. */
  async kill(): Promise<void> {
    this.#program?.signal("SIGKILL");
    await this.#program?.ended;
  }

  /** Freezes it: it accepts connections, but does not answer. */
  freeze(): void {
    this.#program?.signal("SIGSTOP");
  }

  thaw(): void {
    this.#program?.signal("SIGCONT");
  }

  /** Makes its etcd forget all earlier history, so that older versions get 410. */
  async compact(): Promise<void> {
    const program = this.#program;
    const before = program?.lines.length ?? 0;
    program?.say("compact");
    await program?.until("a compaction", () => program.lines[before]);
  }

  /** Restarts it at the same port, with the same objects. */
  async resume(): Promise<void> {
    const port = this.#url === "" ? "0" : new URL(this.#url).port;
    const args = ["-data", this.#folder, "-port", port, "-client-ca", join(this.#folder, "clients.crt")];
    const program = new Program(goProgram("oracle", "oracle"), args, {});
    this.#program = program;
    program.say(JSON.stringify(this.#kinds.map(crdOf)));
    const line = await program.until("a line of the oracle", () => program.lines[0], 60_000);
    const { url, own } = JSON.parse(line) as Record<"url" | "own", string>;
    this.#url = url.replace("[::1]", "127.0.0.1");
    this.#own = own;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.thaw();
    this.#program?.endInput();
    await this.#program?.ended;
    await this.#program?.[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
