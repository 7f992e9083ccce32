// Why: two parts of VitePress's theme have faults that axe calls serious: a button inside a button in the sidebar, and a name of the search
// button that lacks what it shows. They are corrected as the theme is compiled; a part that has changed is an error, so that this goes when it can.

/** What is replaced, by the name of the component. @type {Record<string, [string, string][]>} */
const CORRECTIONS = {
  "VPSidebarItem.vue": [
    [':role="itemRole"', `:role="item.items && !item.link ? 'button' : undefined"`],
    [
      ':tabindex="item.items && 0"',
      ':tabindex="item.items && !item.link ? 0 : undefined" :aria-expanded="item.items && !item.link ? !collapsed : undefined"',
    ],
    [
      'role="button"\n        aria-label="toggle section"',
      `:role="item.link ? 'button' : undefined" :aria-label="item.link ? 'toggle section' : undefined"`,
    ],
    [
      '@keydown.enter="onCaretClick"\n        tabindex="0"',
      '@keydown.enter="onCaretClick" :tabindex="item.link ? 0 : undefined"',
    ],
  ],
  // The style sheet has the letter.
  "VPNavBarSearchButton.vue": [
    ['<kbd class="DocSearch-Button-Key">K</kbd>', '<kbd class="DocSearch-Button-Key" data-key="K"></kbd>'],
  ],
};

/** A plugin of Vite. */
export function accessibleTheme() {
  return {
    name: "accessible-theme",
    enforce: /** @type {const} */ ("pre"),
    /** @param {string} code @param {string} id */
    transform(code, id) {
      for (const [from, to] of CORRECTIONS[id.split("/").at(-1) ?? ""] ?? []) {
        if (!code.includes(from)) throw new Error(`${id} has changed: adapt tools/docs/accessible.mjs`);
        code = code.replace(from, () => to);
      }
      return code;
    },
  };
}
