import { effect, signal } from "@preact/signals";

export type Theme = "auto" | "light" | "dark";

const KEY = "console-theme";

const read = (): Theme => {
  try {
    const saved = localStorage.getItem(KEY);
    return saved === "light" || saved === "dark" ? saved : "auto";
  } catch {
    // A browser may forbid storage.
    return "auto";
  }
};

/** Colors of the page: as the system by default. Kept in the browser. */
export const theme = signal<Theme>(read());

/** Applies the theme, now and after each change. */
export function applyTheme(): void {
  effect(() => {
    const { value } = theme;
    document.documentElement.dataset["theme"] = value;
    try {
      if (value === "auto") localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, value);
    } catch {
      // The choice lasts as long as the page.
    }
  });
}

export function switchTheme(): void {
  theme.value = theme.value === "auto" ? "light" : theme.value === "light" ? "dark" : "auto";
}
