// The image without a container engine: the commands of deploy/image/Dockerfile, in folders instead of layers.
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { localNode, root } from "../../../tools/install.mjs";
import { run } from "../../../tools/run.mjs";
import { tree } from "../../_setup/tree.ts";
import { moveTo, tarballs } from "../../_support/tarballs.ts";

const FOLDER = join(root, "deploy/image");

/** Returns the folder with the root file system of the image, built once for the same packages and files. */
export async function imageRoot(): Promise<string> {
  const packed = await tarballs();
  const key = createHash("sha256").update(packed.join());
  for (const file of globSync("*", { cwd: FOLDER }).sort()) key.update(file).update(readFileSync(join(FOLDER, file)));
  const cache = join(root, "node_modules/.cache/image");
  const id = key.digest("hex").slice(0, 16);
  const folder = join(cache, id);
  if (existsSync(folder)) return folder;
  using place = tree({ "app/package.json": "{}" });
  const app = join(place.path, "app");
  const built = join(place.path, "image");
  const [install, assemble] = commandsOf("installed");
  const filled = (line: string): string[] =>
    line
      .replace("/tarballs/*.tgz", packed.join(" "))
      .replace("/source/assemble.mjs /app /image", `${join(FOLDER, "assemble.mjs")} ${app} ${built}`)
      .split(" ");
  for (const [program = "", ...args] of [filled(install ?? ""), filled(assemble ?? "")]) {
    const { ok, output } = await run(program === "node" ? localNode : program, args, { cwd: app });
    if (!ok) throw new Error(`${program} ${args.join(" ")}\n${output}`);
  }
  mkdirSync(cache, { recursive: true });
  // Images of other packages go; those of the same ones may be in use, or on their way, in another process.
  for (const name of readdirSync(cache))
    if (!name.startsWith(id)) rmSync(join(cache, name), { recursive: true, force: true });
  moveTo(built, folder);
  return folder;
}

/** Returns the commands that a stage of the Dockerfile runs. */
export function commandsOf(stage: string): readonly string[] {
  const stages = readFileSync(join(FOLDER, "Dockerfile"), "utf8").split(/^FROM /m);
  const text = stages.find((one) => one.split("\n", 1)[0]?.endsWith(` AS ${stage}`)) ?? "";
  return [...text.matchAll(/^RUN (.+)$/gm)].map(([, command = ""]) => command);
}

/** Returns the entry point and the user of the image. */
export function configOf(): { readonly entrypoint: readonly string[]; readonly user: string } {
  const text = readFileSync(join(FOLDER, "Dockerfile"), "utf8");
  const [, entrypoint = "[]"] = /^ENTRYPOINT (.+)$/m.exec(text) ?? [];
  const [, user = ""] = /^USER (.+)$/m.exec(text) ?? [];
  return { entrypoint: JSON.parse(entrypoint) as string[], user };
}

/** Writes files below a folder, as the volumes of a container. */
export function volume(folder: string, files: Readonly<Record<string, string>>): string {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}
