// Why: a newcomer finds things by folder, so folders have rows like packages do: imports point down, folders do not
// import each other, files do not import in circles, and a short file with one user is a part of that user. A package
// declares its rows in layers.json beside its package.json:
//
//   { "rows": [["names.ts", "schema"], ["view"], ["index.ts"]],       lowest first; files and folders of src, also nested
//     "typeCycles": [{ "files": ["a.ts", "b.ts"], "reason": "…" }],   the few cycles of types that stay
//     "seams": { "view/clock.ts": "…" } }                             short files with one user that stay, and why
//
// `node tools/check-rooms.mjs packages/store` prints what there is, arrow by arrow.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { arrowsOf, cyclesOf, sourcesOf } from "./import-graph.mjs";
import { root } from "./install.mjs";

/** A file of at most so many lines whose only user stands beside it belongs in that user. */
const SHORT = 60;
/** How many cycles of types the whole repository may have. */
const TYPE_CYCLES = 5;

/** @typedef {{ rows: string[][], typeCycles?: { files: string[], reason: string }[], seams?: Record<string, string> }} Rooms */

/** The entry of the rows that a file belongs to: the longest that is the file or a folder above it. @param {string} file @param {string[]} entries */
const entryOf = (file, entries) =>
  entries.filter((entry) => file === entry || file.startsWith(`${entry}/`)).sort((a, b) => b.length - a.length)[0];

/** Imports that point up or sideways. @param {import("./import-graph.mjs").Arrow[]} arrows @param {string[][]} rows */
function upward(arrows, rows) {
  const entries = rows.flat();
  /** @param {string | undefined} entry */
  const rowOf = (entry) => rows.findIndex((row) => entry !== undefined && row.includes(entry));
  return arrows.flatMap(({ from, to }) => {
    const [above, below] = [entryOf(from, entries), entryOf(to, entries)];
    if (above === undefined || below === undefined || above === below || rowOf(below) < rowOf(above)) return [];
    return [
      `${from} (${above}, row ${rowOf(above)}) imports ${to} (${below}, row ${rowOf(below)}): imports point down`,
    ];
  });
}

/** Pairs of folders that import each other. Loose files of src are entries of their own. @param {import("./import-graph.mjs").Arrow[]} arrows */
function mutual(arrows) {
  const pairs = new Set(arrows.map(({ from, to }) => `${dirname(from)} ${dirname(to)}`));
  return [...pairs].flatMap((pair) => {
    const [a = "", b = ""] = pair.split(" ");
    return a < b && a !== "." && pairs.has(`${b} ${a}`) ? [`${a} and ${b} import each other`] : [];
  });
}

/** Short files whose only user is in the same folder. @param {import("./import-graph.mjs").Source[]} sources @param {import("./import-graph.mjs").Arrow[]} arrows */
function crumbs(sources, arrows) {
  return sources.flatMap(({ path, lines }) => {
    const users = arrows.filter(({ to }) => to === path);
    const [user] = users;
    const isCrumb = lines <= SHORT && users.length === 1 && user !== undefined && dirname(user.from) === dirname(path);
    const isPublic = user?.from === "index.ts" || user?.from.startsWith("entry/");
    return isCrumb && !isPublic ? [{ path, lines, user: user.from }] : [];
  });
}

/** @param {string} home @param {Rooms | undefined} rooms without them: everything there is, but what points up */
function faultsOf(home, rooms) {
  const sources = sourcesOf(home).filter(({ path }) => !/(^|\/)generated\//.test(path));
  const arrows = arrowsOf(sources);
  const { rows = [], typeCycles = [], seams = {} } = rooms ?? {};
  const paths = sources.map(({ path }) => path);
  const values = cyclesOf(arrows.filter(({ isType }) => !isType));
  const listed = typeCycles.map(({ files }) => [...files].sort().join(" "));
  const types = cyclesOf(arrows).map((files) => files.join(" "));
  const short = crumbs(sources, arrows);
  return [
    ...(rooms === undefined ? [] : paths.filter((path) => entryOf(path, rows.flat()) === undefined)).map(
      (path) => `${path} has no row: give it, or its folder, one in layers.json`,
    ),
    ...rows
      .flat()
      .filter((entry) => !paths.some((path) => entryOf(path, [entry]) !== undefined))
      .map((entry) => `layers.json: "${entry}" is not there any more`),
    ...upward(arrows, rows),
    ...mutual(arrows),
    ...values.map((files) => `import cycle: ${files.join(", ")}`),
    ...types
      .filter((files) => !listed.includes(files) && !values.some((value) => value.join(" ") === files))
      .map((files) => `import cycle of types: ${files.replaceAll(" ", ", ")}`),
    ...listed.filter((files) => !types.includes(files)).map((files) => `layers.json: no cycle of types ${files}`),
    ...short
      .filter(({ path }) => seams[path] === undefined)
      .map(
        ({ path, lines, user }) =>
          `${path} (${lines} lines) has one user, ${user}: fold it in, or give a reason under "seams"`,
      ),
    ...Object.keys(seams)
      .filter((seam) => !short.some(({ path }) => path === seam))
      .map((seam) => `layers.json: "${seam}" is no short file with one user`),
  ];
}

/** @param {string} home @returns {Rooms | undefined} */
function roomsOf(home) {
  const file = join(home, "layers.json");
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}

/** The faults of all packages, one line each. @param {string[]} packages their folders */
export function checkRooms(packages) {
  const all = packages.map((home) => ({ home, rooms: roomsOf(home) }));
  const cycles = all.reduce((sum, { rooms }) => sum + (rooms?.typeCycles?.length ?? 0), 0);
  const faults = all.flatMap(({ home, rooms }) => {
    if (rooms === undefined) return [`${home} has no layers.json: declare its rows there`];
    return faultsOf(home, rooms).map((fault) => `${home}/src: ${fault}`);
  });
  return cycles > TYPE_CYCLES ? [...faults, `${cycles} cycles of types are listed, ${TYPE_CYCLES} is the cap`] : faults;
}

if (process.argv[1] === import.meta.filename)
  for (const name of process.argv.slice(2)) {
    const home = join(root, name);
    const arrows = arrowsOf(sourcesOf(home));
    /** @type {Map<string, number>} */
    const folders = new Map();
    /** @param {string} file */
    const room = (file) => (file.includes("/") ? dirname(file) : file);
    for (const { from, to } of arrows)
      if (room(from) !== room(to))
        folders.set(`${room(from)} -> ${room(to)}`, (folders.get(`${room(from)} -> ${room(to)}`) ?? 0) + 1);
    for (const [pair, count] of [...folders].sort()) console.log(`${pair}  (${count})`);
    console.log(faultsOf(home, roomsOf(home)).join("\n"));
  }
