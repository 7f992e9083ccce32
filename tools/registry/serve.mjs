// Why: what users do first is `npm install`, which no folder of a clone can show. `serve.mjs <folder> <upstream> <cache>` serves a
// registry on a free port of the loopback address. Our packages are stored in <folder> and never requested upstream; all others
// come from <upstream> once, and then from <cache>. Prints its URL, and ends with its standard input.
import { mkdirSync } from "node:fs";
import { join, relative } from "node:path";
import { runServer } from "verdaccio";

const [folder = "", upstream = "", cache = ""] = process.argv.slice(2);
const storage = join(folder, "storage");
mkdirSync(storage, { recursive: true });
mkdirSync(cache, { recursive: true });

const own = { access: "$all", publish: "$authenticated", unpublish: "$authenticated" };
const server = await runServer({
  self_path: folder,
  storage,
  auth: { htpasswd: { file: join(folder, "htpasswd"), algorithm: "bcrypt", rounds: 4 } },
  uplinks: { upstream: { url: upstream, maxage: "1d", timeout: "60s", max_fails: 100, fail_timeout: "1s" } },
  packages: {
    "@virtual-workspaces/*": own,
    "virtual-workspaces": own,
    "create-virtual-workspace": own,
    // Its path is relative to the storage.
    "**": { access: "$all", proxy: "upstream", storage: relative(storage, cache) },
  },
  max_body_size: "50mb",
  web: { enable: false },
  log: { type: "file", path: join(folder, "registry.log"), format: "json", level: "warn" },
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address();
  console.log(`http://127.0.0.1:${port}/`);
});
process.stdin.resume().once("end", () => process.exit(0));
