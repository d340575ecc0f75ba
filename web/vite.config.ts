import { defineConfig } from 'vite';

// Addresses are relative, so that the page works behind any path prefix of a proxy. Names have no hash: the server says
// "no-cache" and the program carries one version only.
export default defineConfig({
  base: './',
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  build: {
    target: 'es2022',
    modulePreload: false,
    rollupOptions: {
      output: {
        entryFileNames: 'app.js',
        chunkFileNames: '[name].js',
        assetFileNames: 'app[extname]',
      },
    },
  },
  server: {
    // `npm run dev` beside a running `fathom view --port 8123`.
    proxy: { '/api': { target: 'http://127.0.0.1:8123', changeOrigin: true } },
  },
});
