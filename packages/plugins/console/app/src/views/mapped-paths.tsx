import { texts } from "./texts.ts";

/** Paths of a mapping file, which lead to other servers. They are listed only: what is below them is no API of this server. */
export function MappedPaths({ paths }: { readonly paths: readonly string[] }) {
  if (paths.length === 0) return null;
  return (
    <>
      <h3 id="mapped-paths">{texts.mapped.heading}</h3>
      <p class="hint">{texts.mapped.hint}</p>
      <ul class="owned" aria-labelledby="mapped-paths">
        {[...paths].sort().map((path) => (
          <li key={path}>
            <code>{path}</code>
          </li>
        ))}
      </ul>
    </>
  );
}
