// Why: a release is many small steps in one order, and none may be forgotten or done twice. `release.mjs <version>` shows what it
// would do; with `--publish` it does that: versions, changelog, commit, tag, `npm publish`. After an interruption the same command
// continues. `--no-provenance` publishes from outside of a CI service. Decision 44 has the reasons.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { pack } from "./check-shape.mjs";
import { root } from "./install.mjs";
import { entriesOf, isReleased, released } from "./release-changelog.mjs";
import { manifestsInOrder, setVersions } from "./release-versions.mjs";
import { run } from "./run.mjs";

/** A reason against the release, with its remedy. */
class Refusal extends Error {}

/** @param {string} program @param {string[]} args @returns {Promise<string>} its output */
async function must(program, ...args) {
  const { ok, output } = await run(program, args);
  if (!ok) throw new Refusal(`${program} ${args.join(" ")} failed:\n${output}`);
  return output;
}

/** @param {...string} args */
const git = (...args) => must("git", ...args);
const changelog = join(root, "CHANGELOG.md");
const readChangelog = () => readFileSync(changelog, "utf8");

/** @param {string} version */
const isPrerelease = (version) => version.includes("-");

/** @param {string} version */
const subjectOf = (version) => `chore(release): v${version}`;

/** Whether the last commit is that of this release. @param {string} version */
const isPrepared = async (version) => (await git("log", "-1", "--format=%s")) === subjectOf(version);

/** @param {string} version @param {boolean} prepared */
async function refuseUnlessReady(version, prepared) {
  const branch = await git("branch", "--show-current");
  if (branch !== "main") throw new Refusal(`the branch is "${branch}": releases are made on main`);
  if ((await git("status", "--porcelain")) !== "")
    throw new Refusal("the working tree has changes: commit them, or drop them with `git restore .`");
  const tagged = await run("git", ["rev-parse", "--verify", "--quiet", `v${version}^{commit}`]);
  if (tagged.ok && tagged.output !== (await git("rev-parse", "HEAD")))
    throw new Refusal(`the tag v${version} exists on another commit: use the next version`);
  if (!prepared && isReleased(readChangelog(), version))
    throw new Refusal(`CHANGELOG.md has the version ${version}: use the next version`);
  if (!prepared && entriesOf(readChangelog()).length === 0)
    throw new Refusal("CHANGELOG.md has no entries under Unreleased: say what changed");
  const [existing] = prepared ? [] : (await integritiesInRegistry(version)).keys();
  if (existing !== undefined) throw new Refusal(`${existing}@${version} is in the registry: use the next version`);
}

/**
 * Returns the integrity of each package that the registry has in a version. Requested directly: `npm view` takes a second each.
 *
 * @param {string} version @returns {Promise<Map<string, string>>} by name
 */
async function integritiesInRegistry(version) {
  const registry = await must("npm", "config", "get", "registry");
  const headers = { accept: "application/vnd.npm.install-v1+json", connection: "close" };
  const integrities = new Map();
  for (const { manifest } of manifestsInOrder(root)) {
    const url = new URL(manifest.name.replace("/", "%2f"), registry);
    const response = await fetch(url, { headers });
    /** @type {{ versions?: Record<string, any> }} */
    const { versions = {} } = response.ok ? /** @type {any} */ (await response.json()) : {};
    if (!response.ok && response.status !== 404) throw new Refusal(`${url} answers with ${response.status}: try again`);
    if (version in versions) integrities.set(manifest.name, versions[version].dist.integrity);
  }
  return integrities;
}

/** Provenance is a statement of a CI service about the repository, which npm rejects without either. */
function refuseWithoutProvenance() {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: github, SIGSTORE_ID_TOKEN: gitlab } = process.env;
  if (github === undefined && gitlab === undefined)
    throw new Refusal("provenance needs a CI service with OpenID tokens: release there, or use --no-provenance");
  const without = manifestsInOrder(root).find(({ manifest }) => manifest.repository === undefined);
  if (without) throw new Refusal(`provenance needs the field "repository" in ${without.file}`);
}

/** Makes the commit and the tag, as far as they are missing. @param {string} version */
async function prepare(version) {
  if (!(await isPrepared(version))) {
    setVersions(root, version);
    const date = new Date().toISOString().slice(0, 10);
    if (!isPrerelease(version)) writeFileSync(changelog, released(readChangelog(), version, date));
    await git("commit", "--all", "--quiet", "--message", subjectOf(version));
  }
  const tagged = await run("git", ["rev-parse", "--verify", "--quiet", `v${version}`]);
  if (!tagged.ok) await git("tag", "--annotate", `v${version}`, "--message", `v${version}`);
}

/** Builds and packs; returns the tarballs with what they hold, each after its dependencies. */
async function packed() {
  const folder = join(root, "dist/tarballs");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await must(process.execPath, join(root, "tools/build.mjs"));
  const files = await pack(root, folder);
  return manifestsInOrder(root).map(({ manifest: { name, version } }) => {
    const file = files.find((path) => basename(path) === `${name.replace("@", "").replace("/", "-")}-${version}.tgz`);
    if (file === undefined) throw new Error(`no tarball of ${name}@${version}`);
    return { name, file, integrity: `sha512-${createHash("sha512").update(readFileSync(file)).digest("base64")}` };
  });
}

/** @param {string} version @param {boolean} provenance */
async function publish(version, provenance) {
  const integrities = await integritiesInRegistry(version);
  const tarballs = [];
  for (const tarball of await packed()) {
    const there = integrities.get(tarball.name);
    if (there !== undefined && there !== tarball.integrity)
      throw new Refusal(`${tarball.name}@${version} is in the registry with other content: use the next version`);
    tarballs.push({ ...tarball, done: there !== undefined });
  }
  const tag = isPrerelease(version) ? "next" : "latest";
  for (const { name, file, integrity, done } of tarballs) {
    const flags = ["--access=public", `--tag=${tag}`, "--ignore-scripts", ...(provenance ? ["--provenance"] : [])];
    const isNew = !done && (await published(file, flags, { name, version, integrity }));
    console.log(`${isNew ? "published  " : "was there  "}${name}@${version}`);
  }
}

/**
 * @param {string} file @param {string[]} flags @param {{ name: string, version: string, integrity: string }} tarball
 * @returns {Promise<boolean>} whether this publishes it: `npm publish` of an interrupted release may have outlived that release
 */
async function published(file, flags, { name, version, integrity }) {
  const { ok, output } = await run("npm", ["publish", file, ...flags]);
  if (ok) return true;
  if ((await integritiesInRegistry(version)).get(name) === integrity) return false;
  throw new Refusal(`npm publish ${file} ${flags.join(" ")} failed:\n${output}`);
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    allowNegative: true,
    options: { publish: { type: "boolean", default: false }, provenance: { type: "boolean", default: true } },
  });
  const [version = "", ...others] = positionals;
  if (others.length > 0 || !/^\d+\.\d+\.\d+(-[0-9a-z.]+)?$/.test(version))
    throw new Refusal(`invalid version "${positionals.join(" ")}": use one such as 0.2.0, or 0.2.0-rc.1`);
  const prepared = await isPrepared(version);
  await refuseUnlessReady(version, prepared);
  if (values.publish && values.provenance) refuseWithoutProvenance();
  await must("npm", "run", "check", "--silent");
  if (values.publish) {
    await prepare(version);
    await publish(version, values.provenance);
    console.log(`Released. Now push: git push origin main v${version}`);
    return;
  }
  console.log(`${prepared ? "Prepared" : "Would prepare"} v${version}: versions, CHANGELOG.md, a commit, a tag`);
  for (const { manifest } of manifestsInOrder(root)) console.log(`would publish  ${manifest.name}@${version}`);
  console.log("Nothing was changed. Release with --publish.");
}

try {
  await main();
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
