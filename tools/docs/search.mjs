// Why: a search for a task should find its guide before the twenty types that it uses. Of a page of the API reference the index has its title and
// its first paragraph; of other pages everything.

const API = /^reference\/api\//;

/** What of a page is indexed, as HTML. @param {string} source @param {any} env @param {any} markdown */
export function searchable(source, env, markdown) {
  if (!API.test(env.relativePath)) return markdown.render(source, env);
  const [, title = ""] = /^# (.+)$/m.exec(source) ?? [];
  const paragraph = source.split(/\n{2,}/).find((text) => /^[A-Z]/.test(text)) ?? "";
  return markdown.render(`# ${title}\n\n${paragraph}\n`, env);
}

/** How much a page counts, by its address. It runs in the browser, without what is around it. @param {string} address */
export function weight(address) {
  if (/\/reference\/api\//.test(address)) return 0.5;
  return /\/(tutorials|how-to)\//.test(address) ? 1.5 : 1;
}
