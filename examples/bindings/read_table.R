# Rscript read_table.R DATASET: what each region costs, in R. The tables of any dataset are written as Parquet first
# (fathom convert DATASET out.parquet), which the package arrow reads in place; nobody needs a binding.
library(arrow)
library(dplyr)

dataset <- commandArgs(trailingOnly = TRUE)[1]
folder <- file.path(tempdir(), "tables.parquet")
status <- system2("fathom", c("convert", shQuote(dataset), shQuote(folder), "--quiet"))
if (status != 0) quit(status = 2)
total <- open_dataset(file.path(folder, "total.parquet"))
context <- open_dataset(file.path(folder, "context.parquet"))
total |>
  filter(metric == "time") |>
  inner_join(context |> select(id, name), by = c("context" = "id")) |>
  group_by(name) |>
  summarise(seconds = sum(exclusive)) |>
  arrange(desc(seconds)) |>
  collect() |>
  print()
