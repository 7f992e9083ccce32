// Why: the changelog is what users read about a release, so a release without entries is refused, and its heading is never forgotten.

const UNRELEASED = /^## Unreleased\n/m;

/** The entries of the next release. @param {string} text @returns {string[]} */
export function entriesOf(text) {
  const [, after = ""] = text.split(UNRELEASED);
  const [section = ""] = after.split(/^## /m);
  return section.match(/^- .*/gm) ?? [];
}

/** Whether a version has its heading. @param {string} text @param {string} version */
export const isReleased = (text, version) => text.split("\n").some((line) => line.startsWith(`## ${version} - `));

/** The text after a release: what was unreleased has a version and a date. @param {string} text @param {string} version @param {string} date */
export const released = (text, version, date) => text.replace(UNRELEASED, `## Unreleased\n\n## ${version} - ${date}\n`);
