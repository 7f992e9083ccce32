// Runs a real `virtual-workspaces` command until it exits.
import { join } from "node:path";
import { localNode, root } from "../../../tools/install.mjs";
import { Program } from "./program.ts";

/** Running command. */
export class VirtualWorkspaces extends Program {
  /** @param env with the user's home directory in `HOME` */
  constructor(args: readonly string[], env: Readonly<Record<string, string>>) {
    const binary = ["--conditions=@virtual-workspaces/source", join(root, "packages/cli/src/bin.ts")];
    super(localNode, [...binary, ...args], env);
  }
}
