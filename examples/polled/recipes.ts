// Objects that are files: a folder with one YAML file for each recipe, whose name is the file's. Files that appear, change or
// disappear are events in open watches, and what kubectl writes is in the files.
//
//   mkdir recipes && RECIPES=recipes virtual-workspaces dev examples/polled/recipes.ts
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  authenticated,
  defineResource,
  defineVirtualWorkspace,
  polled,
  type SourceObject,
  type SpecOf,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { parse, stringify } from "yaml";

const Recipe = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Recipe",
  scope: "Cluster",
  spec: {
    type: "object",
    required: ["title"],
    properties: { title: { type: "string", maxLength: 100 }, minutes: { type: "integer", minimum: 1 } },
  },
  columns: { Title: ".spec.title", Minutes: ".spec.minutes" },
});
type RecipeFile = SourceObject<{ spec: SpecOf<typeof Recipe> }>;

const unlessGone = (error: NodeJS.ErrnoException) => (error.code === "ENOENT" ? undefined : Promise.reject(error));

/** Serves the recipes in a folder. While it cannot be read, all of them stay as they were. */
export function recipesIn(folder: string, every = 2_000): VirtualWorkspace {
  // Names of objects are lower-case letters, digits, dots and dashes: none leads out of the folder.
  const fileOf = (name: string): string => join(folder, `${name}.yaml`);

  async function readOne(name: string, signal: AbortSignal): Promise<RecipeFile | undefined> {
    const text = await readFile(fileOf(name), { encoding: "utf8", signal }).catch(unlessGone);
    if (text === undefined) return undefined;
    try {
      const recipe = parse(text) as RecipeFile;
      return { ...recipe, metadata: { ...recipe?.metadata, name } };
    } catch (error) {
      throw new Error(`${fileOf(name)}: ${(error as Error).message}`, { cause: error });
    }
  }

  async function readAll(signal: AbortSignal): Promise<RecipeFile[]> {
    const names = (await readdir(folder)).flatMap((file) => /^([^.].*)\.yaml$/.exec(file)?.[1] ?? []);
    const found = await Promise.all(names.map((name) => readOne(name, signal)));
    const recipes = found.filter((recipe) => recipe !== undefined);
    // A file that has gone meanwhile: if the folder itself has, no recipe is deleted.
    return recipes.length < names.length ? readAll(signal) : recipes;
  }

  const recipes = polled({
    collection: Recipe.collection(),
    cluster: "root",
    every,
    read: ({ signal }) => readAll(signal),
    readOne: ({ name }, { signal }) => readOne(name, signal),
    write: async ({ apiVersion, kind, metadata, spec }) => {
      const { name, labels, annotations, finalizers } = metadata;
      const text = stringify({ apiVersion, kind, metadata: { name, labels, annotations, finalizers }, spec });
      // A reader of the folder sees the old file or the new one, never half of it.
      const draft = join(folder, `.${name}.draft`);
      await writeFile(draft, text);
      await rename(draft, fileOf(name));
    },
    remove: ({ metadata }) => rm(fileOf(metadata.name), { force: true }),
  });

  return defineVirtualWorkspace({
    name: "recipes",
    path: "/clusters/:cluster",
    authorize: authenticated(),
    resources: [Recipe.serve(recipes)],
    ready: recipes.ready,
    setup: (context) => recipes.start(context),
  });
}

export default recipesIn(process.env["RECIPES"] ?? "recipes");
