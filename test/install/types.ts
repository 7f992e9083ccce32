// Why: types that compile here may need a library, an option or a package that users lack. Every public entry is imported by
// every supported compiler under both module resolutions, with the oldest target that the guide names.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../tools/install.mjs";
import { type Registry, USERS } from "../_support/registry.ts";
import { User } from "./user.ts";

const COMPILERS = {
  "5.9": USERS["tsc 5.9"],
  "6": USERS["tsc 6"],
  "7": join(root, "node_modules/typescript/bin/tsc"),
} as const;

const MODULES = {
  nodenext: { module: "nodenext" },
  bundler: { module: "preserve", moduleResolution: "bundler" },
} as const;

/** The least that the guide asks for. */
const OLDEST = { target: "es2022", lib: ["es2022"], types: ["node"], strict: true, noEmit: true };

/** Entries over optional packages, which have types of their own. */
const OPTIONAL: ReadonlySet<string> = new Set([
  "@virtual-workspaces/framework/http-proxy",
  "@virtual-workspaces/spaces/client-node",
]);

/** Imports every installed public entry of ours. */
function importAll(folder: string): string {
  const scope = join(folder, "node_modules/@virtual-workspaces");
  const entries = readdirSync(scope).flatMap((name) => {
    const { exports } = JSON.parse(readFileSync(join(scope, name, "package.json"), "utf8")) as {
      readonly exports: Readonly<Record<string, unknown>>;
    };
    return Object.keys(exports).map((path) => `@virtual-workspaces/${name}${path.slice(1)}`);
  });
  return entries
    .filter((entry) => !entry.endsWith(".json") && !OPTIONAL.has(entry))
    .map((entry, i) => `import * as e${i} from "${entry}";\nexport const exports${i} = e${i};\n`)
    .join("");
}

/** Registers the tests of types. */
export function typesOf(registry: () => Registry): void {
  describe("have types", () => {
    const users: User[] = [];
    let framework: User;
    let all: User;

    before(async () => {
      const package_ = JSON.stringify({ name: "user", private: true, type: "module" });
      const make = async (...packages: readonly string[]): Promise<User> => {
        const user = new User(registry(), { "package.json": package_ });
        users.push(user);
        await user.run("npm", "install", ...packages, "@types/node@24");
        writeFileSync(join(user.path, "all.ts"), importAll(user.path));
        return user;
      };
      framework = await make("@virtual-workspaces/framework");
      all = await make("virtual-workspaces");
    });
    after(() => {
      for (const user of users) user[Symbol.dispose]();
    });

    for (const [version, tsc] of Object.entries(COMPILERS))
      for (const [name, module] of Object.entries(MODULES))
        for (const skipLibCheck of [true, false]) {
          const options = { ...OLDEST, ...module, skipLibCheck };
          const what = `TypeScript ${version} with ${name}${skipLibCheck ? " and skipLibCheck" : ""}`;
          it(`for all packages under ${what}`, () => check(all, tsc, options));
          if (!skipLibCheck) it(`for the framework alone under ${what}`, () => check(framework, tsc, options));
        }
  });
}

async function check(user: User, tsc: string, compilerOptions: object): Promise<void> {
  writeFileSync(join(user.path, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["all.ts"] }));
  await user.node(tsc, "--project", "tsconfig.json");
}
