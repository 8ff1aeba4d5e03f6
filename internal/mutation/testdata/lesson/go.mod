module lesson

go 1.26
