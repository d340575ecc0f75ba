import js from '@eslint/js';
import tseslint from 'typescript-eslint';

// Scripts run in node, and what they hand to the page runs there.
const globals = Object.fromEntries(
  ['console', 'process', 'document', 'location', 'setTimeout'].map((n) => [n, 'readonly']),
);

export default tseslint.config(
  js.configs.recommended,
  ...tseslint.configs.recommended,
  { files: ['tests/*.mjs'], languageOptions: { globals } },
  {
    rules: {
      '@typescript-eslint/no-unused-expressions': ['error', { allowShortCircuit: true, allowTernary: true }],
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
);
