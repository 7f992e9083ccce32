import { inBrowser, useData, useRoute } from "vitepress";
import DefaultTheme from "vitepress/theme";
import { nextTick, onMounted, watch } from "vue";
import { copyCommands } from "./copy.mjs";
import { drawDiagrams } from "./diagrams.mjs";
import "./style.css";

export default {
  extends: DefaultTheme,
  enhanceApp() {
    if (inBrowser) copyCommands();
  },
  setup() {
    const { isDark, site } = useData();
    const route = useRoute();
    const draw = () => nextTick(() => drawDiagrams({ base: site.value.base, dark: isDark.value }));
    onMounted(draw);
    watch([() => route.path, isDark], draw, { flush: "post" });
  },
};
