/**
 * The URL of a module beside `importer` (an `import.meta.url`), as whichever of the two runs: `.ts` from source, `.js`
 * as built. Only imports are rewritten when building, names of files are not.
 */
export function siblingModule(name: string, importer: string): URL {
  return new URL(`./${name}${importer.endsWith(".ts") ? ".ts" : ".js"}`, importer);
}
