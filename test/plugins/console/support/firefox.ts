// Why: the console is tested in Debian's Firefox too. CI may lack it, so it is missing there without an error, unlike Chromium.
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { FIREFOX_REMEDY, findFirefox } from "../../../../tools/firefox.mjs";
import { root } from "../../../../tools/install.mjs";

/** Settings of the profile: it loads nothing from hosts of Mozilla, and saves files without a question. */
const SETTINGS = {
  "app.normandy.enabled": false,
  "browser.download.always_ask_before_handling_new_types": false,
  "browser.download.useDownloadDir": true,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "services.settings.server": "data:,",
};

/** Starts Firefox. Returns undefined, with a message on stderr, when it is unavailable. */
export async function startFirefox(): Promise<unknown> {
  const found = findFirefox();
  if (found === undefined) {
    process.stderr.write(`SKIPPED: ${FIREFOX_REMEDY}\n`);
    return undefined;
  }
  const modules = join(root, "tools/docs/node_modules");
  const { firefox } = await import(pathToFileURL(join(modules, "playwright-core/index.mjs")).href);
  // The first node on the PATH runs firefox-bidi.fixture.ts.
  const path = [join(root, "node_modules/.bin"), process.env["PATH"]].join(delimiter);
  return await firefox.launch({
    channel: "moz-firefox",
    executablePath: join(import.meta.dirname, "firefox-bidi.fixture.ts"),
    env: { ...found.env, PATH: path, FIREFOX: found.path },
    firefoxUserPrefs: SETTINGS,
  });
}
